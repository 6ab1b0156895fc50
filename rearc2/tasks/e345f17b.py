"""A cell is yellow where neither the left half nor the right half has a cell."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, scatter

LEFT, RIGHT, YELLOW = 6, 5, 4


def generate(rng: Random) -> tuple[Grid, Grid]:
    left, right = (scatter(rng, (4, 4), rng.uniform(0.35, 0.65)) for _ in range(2))
    after = canvas(4, 4, YELLOW)
    after[left] = after[right] = 0
    if not 0 < (after == YELLOW).sum() <= 8:
        raise Retry
    return np.hstack([left * LEFT, right * RIGHT]), after


def verify(grid: Grid) -> Grid:
    left, right = np.hsplit(grid, 2)
    return np.where(left + right == 0, YELLOW, 0)
