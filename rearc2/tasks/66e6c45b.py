"""The four cells in the middle move to the four corners, each to the one on its side."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors

SIDE = 4


def generate(rng: Random) -> tuple[Grid, Grid]:
    block = np.array(colors(rng, 4)).reshape(2, 2)
    before, after = canvas(SIDE, SIDE), canvas(SIDE, SIDE)
    before[1:3, 1:3] = block
    after[np.ix_([0, -1], [0, -1])] = block
    return before, after


def verify(grid: Grid) -> Grid:
    output = np.zeros_like(grid)
    output[0, 0], output[0, -1], output[-1, 0], output[-1, -1] = (
        grid[1, 1],
        grid[1, 2],
        grid[2, 1],
        grid[2, 2],
    )
    return output
