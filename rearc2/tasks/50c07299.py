"""The diagonal moves on to the upper right, so that it begins where it would continue, and becomes one cell longer."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, line

BACKGROUND, RED = 7, 2
SIDE = 16
CAP = 556  # (SIDE - 2 * length) ** 2 places for each length


def generate(rng: Random) -> tuple[Grid, Grid]:
    # Row and column of the lower left end; old and new diagonal together must fit in.
    choices = [
        (length, row, column)
        for length in range(1, SIDE // 2)
        for row in range(2 * length, SIDE)
        for column in range(SIDE - 2 * length)
    ]
    length, row, column = rng.choice(choices)
    before, after = canvas(SIDE, SIDE, BACKGROUND), canvas(SIDE, SIDE, BACKGROUND)
    line(before, (row, column), (row - length + 1, column + length - 1), RED)
    line(after, (row - length, column + length), (row - 2 * length, column + 2 * length), RED)
    return before, after


def verify(grid: Grid) -> Grid:
    output = canvas(*grid.shape, BACKGROUND)
    rows, columns = np.nonzero(grid == RED)
    for step in range(1, len(rows) + 2):
        output[rows.min() - step, columns.max() + step] = RED
    return output
