"""The figure leans to the left: its lowest row stays, and every row above moves one cell further than the row below it;
what leaves the grid is lost."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, grow, objects


def generate(rng: Random) -> tuple[Grid, Grid]:
    tall = rng.randint(2, 9)
    left, right = 0, rng.randint(2, 6)
    figure = np.zeros((tall + 2, 40), bool)
    for row in range(1, tall + 1):
        figure[row, 20 + left : 21 + right] = True
        # From time to time a side moves.
        if rng.random() < 0.35:
            left += rng.choice([-2, -1, 1])
        if rng.random() < 0.35:
            right += rng.choice([-1, 1, 2])
        right = max(right, left + 2)
    outline = figure & grow(~figure)
    columns = np.flatnonzero(outline.any(axis=0))
    outline = outline[1:-1, columns[0] : columns[-1] + 1]
    wide = outline.shape[1]
    start = max(1, tall - 2 - int(np.flatnonzero(outline[0])[0]) + rng.randint(-1, 3))
    top = rng.randint(1, 4)
    height, width = top + tall + rng.randint(1, 4), start + wide + rng.randint(1, 4)
    if max(height, width) > 20:
        raise Retry
    color = rng.randint(1, 9)
    before, after = canvas(height, width), canvas(height, width)
    for row, column in np.argwhere(outline).tolist():
        before[top + row, start + column] = color
        leaning = start + column - (tall - 1 - row)
        if leaning >= 0:
            after[top + row, leaning] = color
    return before, after


def verify(grid: Grid) -> Grid:
    output = np.zeros_like(grid)
    (figure,) = objects(grid)
    for row in range(figure.top, figure.bottom + 1):
        shift = figure.bottom - row
        output[row, : grid.shape[1] - shift] = grid[row, shift:]
    return output
