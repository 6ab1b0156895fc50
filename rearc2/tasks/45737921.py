"""In each 3x3 tile the two colours change places."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, colors, objects, place, retrying, scatter

SIZE = 3


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(1, 6)
    height, width = (rng.randint(5 + count, 9 + 2 * count) for _ in range(2))
    before, after = canvas(height, width), canvas(height, width)
    for top, left in place(rng, before.shape, [(SIZE, SIZE)] * count, margin=1):
        one, other = colors(rng, 2)
        tile = retrying(lambda: _tile(rng))
        before[top : top + SIZE, left : left + SIZE] = np.where(tile, one, other)
        after[top : top + SIZE, left : left + SIZE] = np.where(tile, other, one)
    return before, after


def _tile(rng: Random) -> Mask:
    tile = scatter(rng, (SIZE, SIZE), 0.5)
    if not 2 <= tile.sum() <= SIZE * SIZE - 2:
        raise Retry
    return tile


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for tile in objects(grid, same_color=False):
        one, other = np.unique(tile.patch).tolist()
        output[tile.slices] = one + other - tile.patch
    return output
