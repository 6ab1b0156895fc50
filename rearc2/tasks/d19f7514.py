"""The upper, green half and the lower, grey half are laid on each other: what is coloured in one of them becomes
yellow."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, scatter

GREEN, GREY, YELLOW = 3, 5, 4


def generate(rng: Random) -> tuple[Grid, Grid]:
    upper = scatter(rng, (6, 4), rng.uniform(0.15, 0.8))
    lower = scatter(rng, (6, 4), rng.uniform(0.15, 0.8))
    if not (upper & ~lower).any() or not (lower & ~upper).any() or (upper | lower).all():
        raise Retry
    return np.vstack([GREEN * upper, GREY * lower]), YELLOW * (upper | lower)


def verify(grid: Grid) -> Grid:
    height = len(grid) // 2
    return np.where(np.maximum(grid[:height], grid[height:]) > 0, YELLOW, 0)
