"""The one block that is not blue gives its colour to all blocks in its row and in its column."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors

BLUE = 1
SIDE = 20


def generate(rng: Random) -> tuple[Grid, Grid]:
    (color,) = colors(rng, 1, without=(0, BLUE))
    first_row, first_column = rng.randint(0, 2), rng.randint(0, 2)  # of the black lines
    row = rng.choice(range(first_row + 1, SIDE - 1, 3))
    column = rng.choice(range(first_column + 1, SIDE - 1, 3))
    before = canvas(SIDE, SIDE, BLUE)
    after = before.copy()
    before[row : row + 2, column : column + 2] = color
    after[row : row + 2] = after[:, column : column + 2] = color
    for grid in (before, after):
        grid[first_row::3] = grid[:, first_column::3] = 0
    return before, after


def verify(grid: Grid) -> Grid:
    special = grid > BLUE
    cross = special.any(axis=1, keepdims=True) | special.any(axis=0, keepdims=True)
    return np.where((grid == BLUE) & cross, grid.max(), grid)
