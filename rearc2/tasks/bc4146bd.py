"""The output is a strip of five squares: the input and its left-right mirror image by turns, the input first."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, colors, random_cells

SIDE = 4


def generate(rng: Random) -> tuple[Grid, Grid]:
    palette = colors(rng, rng.choice([2, 3, 3]))
    before = random_cells(rng, (SIDE, SIDE), palette + [palette[0]] * rng.randint(0, 3))
    if (before == before[:, ::-1]).all():
        raise Retry
    mirrored = before[:, ::-1]
    return before, np.hstack([before, mirrored, before, mirrored, before])


def verify(grid: Grid) -> Grid:
    columns = np.arange(5 * SIDE) % (2 * SIDE)
    return grid[:, np.minimum(columns, 2 * SIDE - 1 - columns)]
