"""The two halves beside the blue line are laid on one another: sky blue where either of them has a cell."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, join, scatter, split

YELLOW, BLUE, SKY = 4, 1, 8
HEIGHT, WIDTH = 6, 4


def generate(rng: Random) -> tuple[Grid, Grid]:
    left, right = (scatter(rng, (HEIGHT, WIDTH), rng.uniform(0.4, 0.65)) for _ in range(2))
    if (left | right).all() or not (left | right).any():
        raise Retry
    before = join([[np.where(half, YELLOW, 0) for half in (left, right)]], BLUE)
    return before, np.where(left | right, SKY, 0)


def verify(grid: Grid) -> Grid:
    ((left, right),) = split(grid, BLUE)
    return np.where(np.maximum(left, right) == YELLOW, SKY, 0)
