"""The n x n grid is tiled n times in both directions."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, colors, join, random_cells


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.choice([2, 3, 3, 4, 4, 4, 5, 5, 5, 5])
    (color,) = colors(rng, 1)
    share = rng.randint(1, 4)
    before = random_cells(rng, (side, side), [0, 0] + [color] * share)
    if side > 3 and rng.random() < 0.4:
        before[1::2] = color  # rails, as in two official grids
    if not 2 <= np.count_nonzero(before) < before.size:
        raise Retry
    return before, join([[before] * side] * side, 0, thickness=0)


def verify(grid: Grid) -> Grid:
    return np.tile(grid, grid.shape)
