"""In every row all empty cells between the first and the last cell of the zigzag line are filled with red."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors

RED = 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(3, 8), rng.randint(8, 20)
    (color,) = colors(rng, 1, without=(0, RED))
    start, end = rng.choice([0, 0, 1, 2]), width - rng.choice([0, 0, 1, 2])
    row, step = rng.randrange(height), rng.choice([-1, 1])
    before = canvas(height, width)
    spans: dict[int, tuple[int, int]] = {}  # row -> first and last column of the line there
    for column in range(start, end):
        before[row, column] = color
        spans[row] = spans.get(row, (column, column))[0], column
        if not 0 <= row + step < height:
            step = -step
        row += step
    if len(spans) < height:
        raise Retry
    after = before.copy()
    for at, (first, last) in spans.items():
        cells = after[at, first:last]
        cells[cells == 0] = RED
    return before, after


def verify(grid: Grid) -> Grid:
    seen = np.logical_or.accumulate(grid != 0, axis=1)
    coming = np.logical_or.accumulate((grid != 0)[:, ::-1], axis=1)[:, ::-1]
    return np.where(seen & coming & (grid == 0), RED, grid)
