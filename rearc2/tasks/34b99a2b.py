"""A yellow line parts two panels; a cell of the output is red where exactly one of them is coloured."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, join, scatter, split

LEFT, RIGHT, LINE, DIFFERENT = 8, 5, 4, 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    density = rng.uniform(0.4, 0.65)
    left, right = scatter(rng, (5, 4), density), scatter(rng, (5, 4), density)
    if min(left.sum(), right.sum()) < 7 or max(left.sum(), right.sum()) > 14:
        raise Retry
    before = join([[left * LEFT, right * RIGHT]], LINE)
    return before, (left ^ right) * DIFFERENT


def verify(grid: Grid) -> Grid:
    ((left, right),) = split(grid, LINE)
    return np.where((left == 0) == (right == 0), 0, DIFFERENT)
