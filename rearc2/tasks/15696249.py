"""One row or column of the 3x3 input has one colour. The input is repeated three times along that line, in the band of
the 9x9 output that the line's number tells."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, random_cells


def generate(rng: Random) -> tuple[Grid, Grid]:
    number = rng.randrange(3)
    color, *others = colors(rng, 3)
    before = random_cells(rng, (3, 3), others)
    before[number] = color
    if sum((row == row[0]).all() for row in before) > 1 or len(np.unique(before)) < 3:
        raise Retry
    after = canvas(9, 9)
    after[3 * number : 3 * number + 3] = np.hstack([before] * 3)
    return (before.T, after.T) if rng.random() < 0.5 else (before, after)


def verify(grid: Grid) -> Grid:
    output = canvas(9, 9)
    for number in range(3):
        band = slice(3 * number, 3 * number + 3)
        if len(set(grid[number].tolist())) == 1:
            output[band] = np.tile(grid, (1, 3))
        if len(set(grid[:, number].tolist())) == 1:
            output[:, band] = np.tile(grid, (3, 1))
    return output
