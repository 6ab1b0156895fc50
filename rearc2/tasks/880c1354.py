"""Orange walls part the yellow middle from areas at the border of the grid. The colours of those areas move on
clockwise by one area."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, colors, grow, label, retrying

WALL, MIDDLE, SIDE = 7, 4, 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(2, 4)
    covered = rng.choice([8, 16, 24, 32])  # at least so many cells: most areas that fit are small
    return retrying(lambda: _draw(rng, count, covered), tries=300)


def _draw(rng: Random, count: int, covered: int) -> tuple[Grid, Grid]:
    corners = sorted(rng.sample(range(4), count))  # 0 is top left; clockwise
    areas = [np.rot90(_corner_area(rng), -corner) for corner in corners]
    used = np.zeros((SIDE, SIDE), bool)
    for area in areas:
        if (grow(area, diagonal=False) & used).any():
            raise Retry
        used |= area
    if used.sum() < covered:
        raise Retry
    wall = grow(used, diagonal=False) & ~used
    for turns in range(4):  # now and then a wall closes the middle along a side of the grid
        if rng.random() < 0.25:
            edge = np.rot90(wall, turns)[0]  # a view: writes through
            edge |= ~np.rot90(used, turns)[0]
    middle = ~used & ~wall
    if middle.sum() < 8 or label(middle, diagonal=False)[1] != 1:
        raise Retry
    palette = colors(rng, len(areas), without=(WALL, MIDDLE))
    before, after = canvas(SIDE, SIDE, MIDDLE), canvas(SIDE, SIDE, MIDDLE)
    before[wall] = after[wall] = WALL
    for number, area in enumerate(areas):
        before[area] = palette[number]
        after[area] = palette[number - 1]
    return before, after


def _corner_area(rng: Random) -> Mask:
    """Rows that get shorter or stay as long downwards, from the top left corner."""
    rows = rng.choice([2, 2, 3, 3, 4, 5, 8])
    longest = rng.choice([2, 2, 3, 3, 4, 5, 8])
    if rng.random() < 0.3:
        lengths = [longest] * rows
    else:
        lengths = sorted([longest] + [rng.randint(1, longest) for _ in range(rows - 1)], reverse=True)
    area = np.zeros((SIDE, SIDE), bool)
    for row, length in enumerate(lengths):
        area[row, :length] = True
    return area


def verify(grid: Grid) -> Grid:
    clockwise = [int(color) for turns in range(4) for color in np.rot90(grid, turns)[0, :-1]]
    around = [color for color in dict.fromkeys(clockwise) if color not in (WALL, MIDDLE)]
    output = grid.copy()
    for number, color in enumerate(around):
        output[grid == color] = around[number - 1]
    return output
