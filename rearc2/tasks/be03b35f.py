"""Each of the panels, in reading order, is the one before turned clockwise by a quarter. The output is the panel that
the red square hides."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, join, scatter

BLUE, RED = 1, 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    # Officially the panels are 2x2, of which there are only 14 that turning changes.
    size = rng.choice([2, 3, 3, 3, 3, 3, 4, 4, 5, 6, 7])
    first = scatter(rng, (size, size), rng.uniform(0.35, 0.75)).astype(np.int64)
    turned = [np.rot90(first, -turns) for turns in range(4)]
    if (turned[0] == turned[1]).all():
        raise Retry
    return join([turned[:2], [turned[2], canvas(size, size, RED)]], 0), turned[3]


def verify(grid: Grid) -> Grid:
    size = int((grid[-1] == RED).sum())
    first = grid[:size, :size]
    return first.T[::-1]  # three quarters clockwise
