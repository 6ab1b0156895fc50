"""Six blocks of 3x2 cells in two rows: the answer shows the majority colour of each block, with an empty border."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors, most_common


def generate(rng: Random) -> tuple[Grid, Grid]:
    before, after = canvas(9, 10), canvas(4, 5)
    mains = colors(rng, 6)
    if rng.random() < 0.5:
        mains[rng.randrange(6)] = rng.choice(mains)
    for row in range(2):
        for column in range(3):
            main = mains[3 * row + column]
            (other,) = colors(rng, 1, (0, main))
            cells = [other] * rng.choice([0, 1, 1, 2, 2, 2])
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
