"""Each coloured cell of the input becomes a copy of the whole input with coloured and black cells exchanged; each
black cell becomes a black block."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, scatter, upscale


def generate(rng: Random) -> tuple[Grid, Grid]:
    pattern, color = scatter(rng, (3, 3), rng.uniform(0.3, 0.7)), rng.randint(1, 9)
    if rng.random() < 0.4:
        pattern |= pattern[::-1, ::-1].T  # mirror symmetry in a diagonal
        if rng.random() < 0.5:
            pattern |= pattern.T
    if not 2 <= pattern.sum() <= 7:
        raise Retry
    after = canvas(9, 9)
    for r, c in np.argwhere(pattern) * 3:
        after[r : r + 3, c : c + 3] = np.where(pattern, 0, color)
    return np.where(pattern, color, 0), after


def verify(grid: Grid) -> Grid:
    inverse = np.where(grid == 0, grid.max(), 0)
    return np.where(upscale(grid, 3) == 0, 0, np.tile(inverse, (3, 3)))
