"""The cells that are black both above and below the line become sky blue, all others black."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, join, random_cells, split

HEIGHT, WIDTH = 6, 4
ABOVE, LINE, BELOW, BOTH_BLACK = 2, 7, 6, 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    # Of the four combinations, both black is the one that shows.
    kinds = random_cells(rng, (HEIGHT, WIDTH), [0, 0, 1, 1, 2, 2, 3])
    above = np.where((kinds == 1) | (kinds == 3), ABOVE, 0)
    below = np.where((kinds == 2) | (kinds == 3), BELOW, 0)
    return join([[above], [below]], LINE), np.where(kinds == 0, BOTH_BLACK, 0)


def verify(grid: Grid) -> Grid:
    (above,), (below,) = split(grid, LINE)
    return np.where((above == 0) & (below == 0), BOTH_BLACK, 0)
