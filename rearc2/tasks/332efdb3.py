"""A blue mesh covers the black grid: only cells in odd rows and odd columns (counted from 0) stay black."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas

BLUE = 1
CAP = 192  # sides are odd, so that the mesh closes, and from 3 to 29


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = 2 * rng.randint(1, 14) + 1, 2 * rng.randint(1, 14) + 1
    mesh = canvas(height, width)
    mesh[::2] = mesh[:, ::2] = BLUE
    return canvas(height, width), mesh


def verify(grid: Grid) -> Grid:
    rows, columns = np.indices(grid.shape)
    return np.where((rows % 2 == 1) & (columns % 2 == 1), grid, BLUE)
