"""The black rectangle is filled with the mirror image (left-right) of the pattern."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, background, box, canvas, colors, crop, place, random_cells

SIDE = 12


def generate(rng: Random) -> tuple[Grid, Grid]:
    ground, main, other = colors(rng, 3)
    shape = rng.randint(3, 6), rng.randint(3, 6)
    pattern = random_cells(rng, shape, [main, main, other])
    if (pattern == pattern[:, ::-1]).all():
        raise Retry
    (top, left), (row, column) = place(rng, (SIDE, SIDE), [shape, shape])
    before = canvas(SIDE, SIDE, ground)
    before[top : top + shape[0], left : left + shape[1]] = pattern
    after = before.copy()
    before[row : row + shape[0], column : column + shape[1]] = 0
    after[row : row + shape[0], column : column + shape[1]] = np.fliplr(pattern)
    return before, after


def verify(grid: Grid) -> Grid:
    pattern = crop(grid, (grid != 0) & (grid != background(grid)))
    top, left, height, width = box(grid == 0)
    output = grid.copy()
    output[top : top + height, left : left + width] = pattern[:, ::-1]
    return output
