"""The rows and columns of the black 2x2 square become black, but red cells stay."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, box, fill, random_cells

SIDE, RED = 20, 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    noise = random_cells(rng, (SIDE, SIDE), range(1, 10))
    top, left = rng.randint(0, SIDE - 2), rng.randint(0, SIDE - 2)
    fill(noise, top, left, 2, 2, 0)
    after = noise.copy()
    for band in (after[top : top + 2], after[:, left : left + 2]):
        band[band != RED] = 0
    return noise, after


def verify(grid: Grid) -> Grid:
    top, left, height, width = box(grid == 0)
    cross = np.zeros(grid.shape, bool)
    cross[top : top + height] = True
    cross[:, left : left + width] = True
    return np.where(cross & (grid != RED), 0, grid)
