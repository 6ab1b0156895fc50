"""Only every second cell of every second row is used: the output leaves out the rows and columns between."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, random_cells

SIDE = 6


def generate(rng: Random) -> tuple[Grid, Grid]:
    shades = colors(rng, rng.randint(2, 5))
    after = random_cells(rng, (SIDE // 2, SIDE // 2), shades + [0] * len(shades))
    if not (after.any(axis=0).all() and after.any(axis=1).all()):
        raise Retry  # officially nothing tells whether a row that is used but empty would stay
    before = canvas(SIDE, SIDE)
    before[::2, ::2] = after
    return before, after


def verify(grid: Grid) -> Grid:
    return np.array([[grid[row, column] for column in range(0, SIDE, 2)] for row in range(0, SIDE, 2)])


def rival(grid: Grid) -> Grid:
    """Whatever rows and columns are empty are left out."""
    return grid[grid.any(axis=1)][:, grid.any(axis=0)]
