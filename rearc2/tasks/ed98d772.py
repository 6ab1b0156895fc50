"""The output is made of four images of the grid: as it is, a quarter turn counterclockwise to its right, a half turn
below it, and a quarter turn clockwise in the last corner."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, colors, scatter


def generate(rng: Random) -> tuple[Grid, Grid]:
    (color,) = colors(rng, 1)
    before = scatter(rng, (3, 3), rng.uniform(0.35, 0.75)) * color
    if not 3 <= (before > 0).sum() <= 8 or (before == np.rot90(before)).all():
        raise Retry
    after = np.zeros((6, 6), np.int64)
    for row in range(3):
        for column in range(3):
            cell = before[row, column]
            after[row, column] = cell
            after[2 - column, 3 + row] = cell
            after[5 - row, 2 - column] = cell
            after[3 + column, 5 - row] = cell
    return before, after


def verify(grid: Grid) -> Grid:
    return np.block([[grid, np.rot90(grid)], [np.rot90(grid, 2), np.rot90(grid, -1)]])
