"""Two of the red dots lie in one row or column: a green trunk joins them. From every other dot a green branch runs
straight to the trunk."""

from itertools import pairwise
from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, line

RED, GREEN = 2, 3


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(9, 20), rng.randint(9, 20)
    before = canvas(height, width)
    # Drawn with a horizontal trunk, sometimes turned afterwards.
    trunk = rng.randint(1, height - 2)
    length = rng.randint(5, min(width, 14))
    left = rng.randint(0, width - length)
    right = left + length - 1
    count = rng.randint(2, min(5, length - 3, height // 2))
    rows = rng.sample([row for row in range(height) if abs(row - trunk) > 1], count)
    columns = rng.sample(range(left + 1, right), count)
    branches = sorted(zip(columns, rows, strict=True))
    # Two branches side by side would make a broad one.
    if any(b[0] - a[0] == 1 and (a[1] > trunk) == (b[1] > trunk) for a, b in pairwise(branches)):
        raise Retry
    after = before.copy()
    for row, column in zip(rows, columns, strict=True):
        line(after, (row, column), (trunk, column), GREEN)
        before[row, column] = after[row, column] = RED
    line(after, (trunk, left), (trunk, right), GREEN)
    for grid in (before, after):
        grid[trunk, left] = grid[trunk, right] = RED
    if len({row > trunk for row in rows}) < 2 and rng.random() < 0.7:
        raise Retry
    return (before.T, after.T) if rng.random() < 0.5 else (before, after)


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    turned = not ((grid == RED).sum(axis=1) == 2).any()
    output = output.T if turned else output
    trunk = int((output == RED).sum(axis=1).argmax())
    start, end = np.flatnonzero(output[trunk] == RED).tolist()
    dots = np.argwhere(output == RED).tolist()
    output[trunk, start:end] = GREEN
    for row, column in dots:
        output[min(row, trunk) : max(row, trunk) + 1, column] = GREEN
    for row, column in dots:
        output[row, column] = RED
    return output.T if turned else output
