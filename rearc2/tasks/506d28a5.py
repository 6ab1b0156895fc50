"""The two halves are laid on top of each other: a cell is green where at least one of them is not black."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, scatter, split

UPPER, LOWER, LINE, EITHER = 2, 1, 4, 3
SHAPE = 4, 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    upper, lower = (scatter(rng, SHAPE, rng.uniform(0.3, 0.6)) for _ in range(2))
    if (upper | lower).all():
        raise Retry
    before = np.vstack([upper * UPPER, canvas(1, SHAPE[1], LINE), lower * LOWER])
    return before, np.where(upper | lower, EITHER, 0)


def verify(grid: Grid) -> Grid:
    (upper,), (lower,) = split(grid, LINE)
    return np.where(upper + lower > 0, EITHER, 0)
