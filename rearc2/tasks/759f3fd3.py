"""Around the crossing of the two green lines lie yellow square rings, two cells apart; the green lines stay."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, frame, splits

LINE, RING = 3, 4


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(8, 26)
    row, column = rng.randint(2, side - 3), rng.randint(2, side - 3)
    before, after = canvas(side, side), canvas(side, side)
    for distance in range(2, side, 2):
        frame(after, row - distance, column - distance, 2 * distance + 1, 2 * distance + 1, RING)
    for grid in (before, after):
        grid[row] = grid[:, column] = LINE
    return before, after


def verify(grid: Grid) -> Grid:
    (row,), (column,) = splits(grid, LINE)
    rows, columns = np.indices(grid.shape)
    distance = np.maximum(abs(rows - row), abs(columns - column))
    return np.where((grid == 0) & (distance % 2 == 0), RING, grid)
