"""Coloured lines cross a sky-blue column. They become blue with a sky-blue crossing, and every row between takes the
colour of the nearest line with a blue crossing; it becomes wholly blue when two lines of differing colours are equally
near."""

from itertools import pairwise
from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, retrying

SIDE = 16
BLUE, FREE, COLUMN = 1, 7, 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(2, 5)
    return retrying(lambda: _draw(rng, count))


def _draw(rng: Random, count: int) -> tuple[Grid, Grid]:
    rows = sorted(rng.sample(range(1, SIDE - 1), count))
    column = rng.randint(1, SIDE - 2)
    palette = rng.sample([0, 2, 3, 4, 5, 6, 9], rng.randint(2, count))
    line_colors = [rng.choice(palette) for _ in rows]
    if any(b - a < 3 for a, b in pairwise(rows)) or len(set(line_colors)) < 2:
        raise Retry
    before, after = canvas(SIDE, SIDE, FREE), canvas(SIDE, SIDE, BLUE)
    before[:, column] = COLUMN
    for number, (row, color) in enumerate(zip(rows, line_colors, strict=True)):
        before[row], before[row, column] = color, BLUE
        # The line's share: up to half the way to its neighbours; an exact middle stays blue unless the colours agree.
        above = 0 if number == 0 else (rows[number - 1] + row) // 2 + 1
        below = SIDE if number == count - 1 else (row + rows[number + 1] + 1) // 2
        if number and line_colors[number - 1] == color and (rows[number - 1] + row) % 2 == 0:
            above -= 1
        after[above:below] = color
    after[:, column] = BLUE
    after[rows] = BLUE
    after[rows, column] = COLUMN
    return before, after


def verify(grid: Grid) -> Grid:
    height, width = grid.shape
    lines = np.flatnonzero((grid == BLUE).any(axis=1))
    column = int(np.flatnonzero((grid == BLUE).any(axis=0))[0])
    output = canvas(height, width, BLUE)
    for row in range(height):
        distances = np.abs(lines - row)
        if not distances.min():
            output[row, column] = COLUMN
            continue
        nearest = np.unique(grid[lines[distances == distances.min()], column - 1])
        if len(nearest) == 1:
            output[row] = nearest[0]
            output[row, column] = BLUE
    return output
