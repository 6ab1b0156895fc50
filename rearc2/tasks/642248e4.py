"""Two opposite sides of the grid are coloured bars. Every blue cell gets one cell of the nearer bar's
colour on the side towards that bar."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, place

DOT = 1


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(8, 24), rng.randint(6, 24)
    upper, lower = colors(rng, 2, without=(0, DOT))
    taken = np.zeros((height, width), bool)
    taken[[0, -1]] = True  # the bars
    if height % 2:
        taken[height // 2] = True  # as near to the one as to the other
    count = rng.randint(4, max(5, height * width // 14))
    before = canvas(height, width)
    before[0], before[-1] = upper, lower
    after = before.copy()
    dots = place(rng, before.shape, [(1, 1)] * count, taken=taken)
    if len({row < height / 2 for row, _ in dots}) < 2:
        raise Retry
    for row, column in dots:
        before[row, column] = after[row, column] = DOT
        if row < height / 2:
            after[row - 1, column] = upper
        else:
            after[row + 1, column] = lower
    return (before, after) if rng.random() < 0.5 else (before.T.copy(), after.T.copy())


def verify(grid: Grid) -> Grid:
    height, width = grid.shape
    lying = (grid[0] == grid[0, 0]).all() and grid[0, 0] > DOT
    output = grid.copy()
    for row, column in np.argwhere(grid == DOT).tolist():
        if lying:
            up = row < height - 1 - row
            output[row - 1 if up else row + 1, column] = grid[0 if up else -1, column]
        else:
            leftward = column < width - 1 - column
            output[row, column - 1 if leftward else column + 1] = grid[row, 0 if leftward else -1]
    return output
