"""The 2x2 input is repeated three times across and three times down; the middle row of copies is mirrored
left to right."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, random_cells


def generate(rng: Random) -> tuple[Grid, Grid]:
    block = random_cells(rng, (2, 2), range(1, 10))
    if len(np.unique(block)) < 3:  # fewer colours hide the mirroring
        raise Retry
    plain, mirrored = [block] * 3, [np.fliplr(block)] * 3
    return block, np.block([plain, mirrored, plain])


def verify(grid: Grid) -> Grid:
    height = len(grid)
    output = np.tile(grid, (3, 3))
    output[height : 2 * height] = output[height : 2 * height, ::-1]
    return output
