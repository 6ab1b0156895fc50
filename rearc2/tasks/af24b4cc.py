"""Six blocks of 3x2 cells in two rows: the answer shows the majority colour of each block, with an empty border."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors, most_common


def generate(rng: Random) -> tuple[Grid, Grid]:
    before, after = canvas(9, 10), canvas(4, 5)
    for row in range(2):
        for column in range(3):
            main, other = colors(rng, 2)
            cells = [other] * rng.randint(0, 2)
            cells += [main] * (6 - len(cells))
            rng.shuffle(cells)
            top, left = 1 + 4 * row, 1 + 3 * column
            before[top : top + 3, left : left + 2] = np.array(cells).reshape(3, 2)
            after[1 + row, 1 + column] = main
    return before, after


def verify(grid: Grid) -> Grid:
    output = np.zeros((4, 5), np.int64)
    for row, column in np.ndindex(2, 3):
        output[1 + row, 1 + column] = most_common(
            grid[4 * row + 1 : 4 * row + 4, 3 * column + 1 : 3 * column + 3]
        )
    return output
