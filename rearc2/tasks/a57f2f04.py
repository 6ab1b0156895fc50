"""In a corner of every black rectangle is a pattern; it is repeated over the whole rectangle."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, box, canvas, colors, label, place, scatter

GROUND = 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    rows, columns = rng.randint(13, 28), rng.randint(13, 28)
    palette = colors(rng, max(rng.randint(1, 3), rng.randint(1, 4)), without=(0, GROUND))
    tiles = [_tile(rng) for _ in palette]
    times = [(rng.randint(2, 4), rng.randint(2, 5)) for _ in palette]
    sizes = [
        (down * tile.shape[0], right * tile.shape[1])
        for tile, (down, right) in zip(tiles, times, strict=True)
    ]
    before, after = canvas(rows, columns, GROUND), canvas(rows, columns, GROUND)
    corners = place(rng, before.shape, sizes, margin=1)
    for color, tile, repeats, (top, left) in zip(palette, tiles, times, corners, strict=True):
        whole = np.tile(tile, repeats) * color
        part = slice(top, top + whole.shape[0]), slice(left, left + whole.shape[1])
        after[part] = whole
        shown = np.zeros(repeats, bool)
        shown[rng.choice([0, -1]), rng.choice([0, -1])] = True
        before[part] = whole * np.kron(shown, np.ones(tile.shape, bool))
    return before, after


def _tile(rng: Random) -> Mask:
    """A pattern that touches all sides of its box and has holes."""
    tile = scatter(rng, (rng.randint(2, 4), rng.randint(2, 5)), rng.uniform(0.5, 0.8))
    if tile.all() or not (tile[0].any() and tile[-1].any() and tile[:, 0].any() and tile[:, -1].any()):
        raise Retry
    return tile


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    numbers, count = label(grid != GROUND)
    for number in range(1, count + 1):
        place = numbers == number
        top, left, height, width = box(place & (grid != 0))
        tile = grid[top : top + height, left : left + width]
        for row, column in np.argwhere(place).tolist():
            output[row, column] = tile[(row - top) % height, (column - left) % width]
    return output
