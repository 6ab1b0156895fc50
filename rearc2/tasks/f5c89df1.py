"""The sky blue figure is a stamp with its handle at the green cell: it is printed once around each red dot. The figure
itself, the green cell and the dots disappear."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, paint, symmetric_shape

SIDE, FIGURE, HANDLE, DOT = 13, 8, 3, 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(3, 6), rng.choice([3, 5, 7])
    figure = symmetric_shape(rng, height, width, rng.uniform(0.5, 0.9), flips=rng.choice(["lr", "both"]))
    row, column = rng.randint(0, height - 1), width // 2
    figure[row, column] = False
    spans = figure.any(axis=1).all() and figure.any(axis=0).all()
    neighbours = figure[max(0, row - 1) : row + 2, column - 1 : column + 2].sum()
    if not spans or neighbours < 2:
        raise Retry
    top, left = rng.randint(0, SIDE - height), rng.randint(0, SIDE - width)
    before, after = canvas(SIDE, SIDE), canvas(SIDE, SIDE)
    paint(before, figure, top, left, FIGURE)
    before[top + row, left + column] = HANDLE
    # The prints fit into the grid; they may lie over one another.
    places = [(r, c) for r in range(SIDE - height + 1) for c in range(SIDE - width + 1)]
    places = [(r, c) for r, c in places if before[r + row, c + column] == 0]
    count = rng.randint(1, 4)
    pool = [(r, c) for r, c in places if r == top or c == left] if rng.random() < 0.5 else places
    if len(pool) < count:
        raise Retry
    for r, c in rng.sample(pool, count):
        before[r + row, c + column] = DOT
        paint(after, figure, r, c, FIGURE)
    return before, after


def verify(grid: Grid) -> Grid:
    ((row, column),) = np.argwhere(grid == HANDLE).tolist()
    output = np.zeros_like(grid)
    for dot_row, dot_column in np.argwhere(grid == DOT).tolist():
        paint(output, grid == FIGURE, dot_row - row, dot_column - column, FIGURE)
    return output
