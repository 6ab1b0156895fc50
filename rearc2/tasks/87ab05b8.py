"""The quarter of the grid that holds the red cell becomes red, all else magenta."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, random_cells

GROUND, RED = 6, 2
NOISE = [0, 1, 3, 4, 5, 7, 8, 9]


def generate(rng: Random) -> tuple[Grid, Grid]:
    before = random_cells(rng, (4, 4), [GROUND] * rng.randint(8, 20) + NOISE)
    row, column = rng.randrange(4), rng.randrange(4)
    before[row, column] = RED
    after = canvas(4, 4, GROUND)
    top, left = row - row % 2, column - column % 2
    after[top : top + 2, left : left + 2] = RED
    return before, after


def verify(grid: Grid) -> Grid:
    quarters = (grid == RED).reshape(2, 2, 2, 2).any(axis=(1, 3))
    return np.where(np.kron(quarters, np.ones((2, 2), bool)), RED, GROUND)
