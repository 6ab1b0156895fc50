"""The repeating pattern is shifted by one cell to the left and continued over the margin at the right and at the
bottom."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, colors, mostly


def generate(rng: Random) -> tuple[Grid, Grid]:
    period = rng.randint(2, 4)
    margin_color, *cycle = colors(rng, period + 1)
    shift = rng.randint(1, period - 1)  # of every other row
    visible = mostly(rng, period + 2, 6, 18)
    side = visible + rng.randint(1, min(visible, 9))
    rows, columns = np.indices((side, side))
    number = columns + shift * (rows % 2) + rng.randrange(period)
    pattern = np.array(cycle)
    before = pattern[number % period]
    before[visible:] = before[:, visible:] = margin_color
    return before, pattern[(number + 1) % period]


def verify(grid: Grid) -> Grid:
    inside = grid != grid[-1, -1]
    visible = grid[np.ix_(inside.any(axis=1), inside.any(axis=0))]
    rows, columns = np.indices(grid.shape)
    return visible[rows % _period(visible), (columns + 1) % _period(visible.T)]


def _period(lines: Grid) -> int:
    return next(n for n in range(1, len(lines)) if (lines[n:] == lines[:-n]).all())
