"""The pattern of three by three cells in the grey corner occurs once more in the noise; there it gets a grey frame."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, frame, random_cells

GREY, SIDE = 5, 15


def generate(rng: Random) -> tuple[Grid, Grid]:
    palette = [0] * rng.randint(9, 14) + [1, 2, 3, 4, 6, 7, 8, 9] + [GREY] * rng.randint(0, 1)
    before = random_cells(rng, (SIDE, SIDE), palette)
    pattern = before[:3, :3]
    if (pattern != 0).sum() < 4 or (pattern == GREY).any():
        raise Retry
    before[3, :4] = before[:4, 3] = GREY
    top, left = rng.randint(1, SIDE - 4), rng.randint(1, SIDE - 4)
    if top < 5 and left < 5:
        raise Retry  # its frame would meet the corner
    before[top : top + 3, left : left + 3] = pattern
    windows = np.lib.stride_tricks.sliding_window_view(before, (3, 3))
    if (windows == pattern).all(axis=(2, 3)).sum() != 2:
        raise Retry
    if len(np.unique(before)) < 10:
        raise Retry
    after = before.copy()
    frame(after, top - 1, left - 1, 5, 5, GREY)
    return before, after


def verify(grid: Grid) -> Grid:
    pattern = grid[:3, :3]
    output = grid.copy()
    for row in range(SIDE - 2):
        for column in range(SIDE - 2):
            if (row, column) != (0, 0) and np.array_equal(grid[row : row + 3, column : column + 3], pattern):
                frame(output, row - 1, column - 1, 5, 5, GREY)
    return output
