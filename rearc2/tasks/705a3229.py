"""Straight lines join every cell to the nearer of top and bottom and to the nearer of the left and right side."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, grow, line, retrying


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(1, 5)
    return retrying(lambda: _draw(rng, count))  # the count is kept: many cells fail more often


def _draw(rng: Random, count: int) -> tuple[Grid, Grid]:
    height, width = rng.randint(6, 20), rng.randint(6, 20)
    before, after = canvas(height, width), canvas(height, width)
    for shade in colors(rng, count):
        row, column = rng.randint(1, height - 2), rng.randint(1, width - 2)
        if 2 * row == height - 1 or 2 * column == width - 1:
            raise Retry  # both sides are equally near
        drawn = canvas(height, width)
        line(drawn, (row, column), (0 if 2 * row < height - 1 else height - 1, column), shade)
        line(drawn, (row, column), (row, 0 if 2 * column < width - 1 else width - 1), shade)
        if after[grow(drawn > 0)].any():
            raise Retry  # the lines do not touch
        before[row, column] = shade
        after += drawn
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    height, width = grid.shape
    for row, column in np.argwhere(grid).tolist():
        upright = slice(0, row) if row < height - 1 - row else slice(row, height)
        lying = slice(0, column) if column < width - 1 - column else slice(column, width)
        output[upright, column] = output[row, lying] = grid[row, column]
    return output
