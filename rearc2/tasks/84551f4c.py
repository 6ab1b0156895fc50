"""Poles stand on the floor. Blue ones fall over to the right, and so does every red one that a falling pole
reaches; they lie on the floor from where they stood."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas

FALLING, STANDING = 1, 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    width = rng.randint(6, 30)
    height = rng.choice([3, 3, rng.randint(4, 9)])
    before, after = canvas(height, width), canvas(height, width)
    column, hit = 0, False
    while True:
        pole = 3 if height == 3 else rng.randint(2, min(height, 5))
        if column + pole > width:
            break
        color = FALLING if column == 0 or rng.random() < 0.25 else STANDING
        before[height - pole :, column] = color
        falls = hit or color == FALLING
        if falls:
            after[-1, column : column + pole] = color
        else:
            after[height - pole :, column] = color
        gap = rng.choice([0, 0, 1]) if rng.random() < 0.9 else rng.randint(2, 6)
        column += pole + gap
        hit = falls and gap == 0
    if not ((before == STANDING) & (after != STANDING)).any():  # none was knocked over
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = np.zeros_like(grid)
    reach = -1  # the column right of the last fallen pole
    for column in np.flatnonzero(grid[-1]).tolist():
        color, size = grid[-1, column], np.count_nonzero(grid[:, column])
        if color == FALLING or reach == column:
            reach = column + size
            output[-1, column:reach] = color
        else:
            output[:, column] = grid[:, column]
    return output
