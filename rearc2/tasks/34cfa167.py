"""Two blue squares are opposite corners of a rectangle. The pattern begun at the first one goes on along its sides,
across and down, up to the next corner, on all four sides, and the first colour of each runs along the outside."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, box, canvas, colors, fill, most_common

CORNER, PERIOD = 1, 4


def generate(rng: Random) -> tuple[Grid, Grid]:
    size = rng.randint(1, 4)
    most = min(5, (27 - 2 * size) // PERIOD)
    across, down = (PERIOD * rng.randint(2, most) + 1 for _ in range(2))  # between the corners
    used_height, used_width = down + 2 * size, across + 2 * size
    height = used_height + rng.randint(2, min(6, 30 - used_height))
    width = used_width + rng.randint(2, min(6, 30 - used_width))
    top, left = rng.randint(1, height - used_height - 1), rng.randint(1, width - used_width - 1)
    bottom, right = top + size + down, left + size + across  # of the last corner's square
    ground, across_color, down_color, common = colors(rng, 4, without=(CORNER,))
    before, after = canvas(height, width, ground), canvas(height, width, ground)
    for row in (top, bottom):
        for c in range(0, across, 2):
            fill(after, row, left + size + c, size, 1, across_color if c % PERIOD == 0 else common)
    for column in (left, right):
        for r in range(0, down, 2):
            fill(after, top + size + r, column, 1, size, down_color if r % PERIOD == 0 else common)
    for row in (top - 1, bottom + size):
        fill(after, row, left + size, 1, across, across_color)
    for column in (left - 1, right + size):
        fill(after, top + size, column, down, 1, down_color)
    for place in ((top, left), (top, right), (bottom, left), (bottom, right)):
        fill(after, *place, size, size, CORNER)
    # Given are the first corner with one period to its right and below it, and the last corner.
    sides = size + PERIOD
    before[top : top + size, left : left + sides] = after[top : top + size, left : left + sides]
    before[top : top + sides, left : left + size] = after[top : top + sides, left : left + size]
    fill(before, bottom, right, size, size, CORNER)
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    ground = most_common(grid)
    top, left, _, _ = box(grid != ground)
    _, _, height, width = box(grid == CORNER)
    size = int((grid[top] == CORNER).sum())
    frame = output[top - 1 : top + height + 1, left - 1 : left + width + 1]
    rows, columns = np.arange(height - 2 * size), np.arange(width - 2 * size)
    corner = slice(1, 1 + size)
    across = grid[top, left + size + columns % PERIOD]
    down = grid[top + size + rows % PERIOD, left]
    inner = slice(1 + size, -1 - size)
    for far in (corner, slice(-1 - size, -1)):
        frame[far, inner] = across
        frame[inner, far] = down[:, None]
        for near in (corner, slice(-1 - size, -1)):
            frame[far, near] = CORNER
    frame[0, inner] = frame[-1, inner] = across[0]
    frame[inner, 0] = frame[inner, -1] = down[0]
    return output
