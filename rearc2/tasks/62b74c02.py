"""The pattern at the left side is repeated at the right side, and each row between is filled with the colour of its
first cell."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, colors, random_cells


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, wide = rng.randint(2, 10), rng.randint(3, 8)
    palette = colors(rng, rng.randint(3, 4))
    inner = random_cells(rng, (height, wide - 2), palette)
    if rng.random() < 0.6:
        inner = np.where(np.arange(wide - 2) < (wide - 1) // 2, inner, inner[:, ::-1])  # mirror symmetry
    # The first column is also the last one of the pattern: officially nothing tells which of them fills the middle.
    side = random_cells(rng, (height, 1), palette if rng.random() < 0.7 else palette[:1])
    pattern = np.hstack([side, inner, side])
    if (inner == side).all() or len(np.unique(pattern)) < 2:
        raise Retry
    between = rng.randint(2, min(14, 30 - 2 * wide))
    after = np.hstack([pattern, np.repeat(side, between, axis=1), pattern])
    before = after.copy()
    before[:, wide:] = 0
    return before, after


def verify(grid: Grid) -> Grid:
    wide = int((grid != 0).any(axis=0).sum())
    output = np.repeat(grid[:, :1], grid.shape[1], axis=1)
    output[:, :wide] = output[:, -wide:] = grid[:, :wide]
    return output


def rival(grid: Grid) -> Grid:
    """The last column of the pattern fills the middle."""
    columns = [column for column in grid.T if column.any()]
    middle = grid.shape[1] - 2 * len(columns)
    return np.column_stack(columns + [columns[-1]] * middle + columns)
