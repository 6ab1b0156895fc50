"""The square is mirrored at all four sides and corners: it stays in the middle of three by three mirror images."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, colors, random_cells

SIDE = 3


def generate(rng: Random) -> tuple[Grid, Grid]:
    palette = colors(rng, rng.randint(3, 5))
    before = random_cells(rng, (SIDE, SIDE), palette)
    if (before == before[::-1]).all() or (before == before[:, ::-1]).all():
        raise Retry
    mirrored = before[:, ::-1]
    band = np.hstack([mirrored, before, mirrored])
    return before, np.vstack([band[::-1], band, band[::-1]])


def verify(grid: Grid) -> Grid:
    order = [2, 1, 0, 0, 1, 2, 2, 1, 0]
    return grid[np.ix_(order, order)]
