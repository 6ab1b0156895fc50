"""A green half and a red half lie side by side: grey are the cells that are empty in both."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, scatter

LEFT, RIGHT, EMPTY = 3, 2, 5
HEIGHT, WIDTH = 4, 7


def generate(rng: Random) -> tuple[Grid, Grid]:
    left = scatter(rng, (HEIGHT, WIDTH), rng.uniform(0.25, 0.7))
    right = scatter(rng, (HEIGHT, WIDTH), rng.uniform(0.25, 0.7))
    neither = ~(left | right)
    if not neither.any():
        raise Retry
    return np.hstack([np.where(left, LEFT, 0), np.where(right, RIGHT, 0)]), np.where(neither, EMPTY, 0)


def verify(grid: Grid) -> Grid:
    half = grid.shape[1] // 2
    return np.where(grid[:, :half] + grid[:, half:] == 0, EMPTY, 0)
