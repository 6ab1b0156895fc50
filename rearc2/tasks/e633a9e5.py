"""The outer rows and columns are doubled: the 3x3 grid gets a border in which every cell continues its neighbour."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, random_cells

COLORS = range(1, 9)


def generate(rng: Random) -> tuple[Grid, Grid]:
    before = random_cells(rng, (3, 3), COLORS)
    lines = [0, 0, 1, 2, 2]  # which of the input's lines each of the output's shows
    return before, before[np.ix_(lines, lines)]


def verify(grid: Grid) -> Grid:
    return np.pad(grid, 1, mode="edge")
