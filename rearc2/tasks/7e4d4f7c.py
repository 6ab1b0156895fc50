"""The answer is the first two rows, and below them the first row again with its pattern in pink."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, scatter

PINK = 6


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.choice([3, rng.randint(4, 14), rng.randint(4, 14)]), rng.randint(5, 16)
    ground, pattern = colors(rng, 2, without=(PINK,))
    mark = pattern if rng.random() < 0.2 else colors(rng, 1, without=(ground,))[0]
    chosen = scatter(rng, (1, width), rng.uniform(0.35, 0.65))[0]
    if not 2 <= chosen.sum() < width:
        raise Retry
    before = canvas(height, width, ground)
    before[0, chosen] = pattern
    before[1::2, 0] = mark
    after = before[:3].copy()
    after[2] = np.where(chosen, PINK, ground)
    return before, after


def verify(grid: Grid) -> Grid:
    ground = grid[1, 1]
    return np.vstack([grid[:2], np.where(grid[:1] == ground, ground, PINK)])
