"""The square is repeated n x n times, n being the number of its colours."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, colors, random_cells


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(2, 6)
    square = random_cells(rng, (3, 3), colors(rng, count))
    if len(np.unique(square)) != count:
        raise Retry
    return square, np.tile(square, (count, count))


def verify(grid: Grid) -> Grid:
    times = len(set(grid.ravel().tolist()))
    side = np.arange(3 * times) % 3
    return grid[np.ix_(side, side)]
