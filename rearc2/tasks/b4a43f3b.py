"""Above the grey line stands a 3x3 tile at double size, below it a plan of 6x6 places. The answer is the plan built
from tiles, one at each red place."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, colors, fill, paint, random_cells, random_shape, upscale

GREY, RED = 5, 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    palette = colors(rng, rng.randint(2, 4), (0, GREY))
    tile = random_cells(rng, (3, 3), [*palette, 0, 0])
    if (tile > 0).sum() < 3 or set(palette) - set(tile.ravel().tolist()):
        raise Retry
    plan = _plan(rng)
    before, after = canvas(13, 6), canvas(18, 18)
    before[:6] = upscale(tile, 2)
    fill(before, 6, 0, 1, 6, GREY)
    paint(before, plan, 7, 0, RED)
    for row, column in np.argwhere(plan):
        paint(after, tile, 3 * row, 3 * column)
    return before, after


def _plan(rng: Random) -> Mask:
    height, width = rng.randint(3, 6), rng.randint(3, 6)
    shape = random_shape(rng, height, width, rng.uniform(0.2, 0.6), diagonal=True)
    plan = np.zeros((6, 6), bool)
    paint(plan, shape, rng.randint(0, 6 - height), rng.randint(0, 6 - width), 1)
    return plan


def verify(grid: Grid) -> Grid:
    return np.kron((grid[7:] == RED).astype(np.int64), grid[:6:2, ::2])
