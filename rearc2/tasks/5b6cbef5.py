"""Each coloured cell becomes a copy of the whole grid, each black cell an empty block of that size."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, paint, scatter

SIDE = 4


def generate(rng: Random) -> tuple[Grid, Grid]:
    pattern = scatter(rng, (SIDE, SIDE), rng.uniform(0.3, 0.7))
    if not 3 <= pattern.sum() <= 13:
        raise Retry
    (color,) = colors(rng, 1)
    after = canvas(SIDE * SIDE, SIDE * SIDE)
    for row, column in np.argwhere(pattern).tolist():
        paint(after, pattern, SIDE * row, SIDE * column, color)
    return np.where(pattern, color, 0), after


def verify(grid: Grid) -> Grid:
    return np.kron(grid != 0, grid)
