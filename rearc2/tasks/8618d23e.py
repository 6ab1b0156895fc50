"""The upper and the lower half move apart by one cell, the upper to the left and the lower to the right; what opens is
maroon."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, random_cells

GAP = 9


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(1, 7), rng.randint(1, 9)
    grounds = rng.sample(range(9), 2)
    halves = []
    for ground in grounds:
        accent = rng.choice([color for color in range(9) if color != ground])
        halves.append(random_cells(rng, (height, width), [ground] * rng.randint(2, 4) + [accent]))
    if np.array_equal(*halves):
        raise Retry
    after = canvas(2 * height + 1, width + 1, GAP)
    after[:height, :-1] = halves[0]
    after[height + 1 :, 1:] = halves[1]
    return np.vstack(halves), after


def verify(grid: Grid) -> Grid:
    upper, lower = np.split(grid, 2)
    upper = np.pad(upper, ((0, 1), (0, 1)), constant_values=GAP)
    lower = np.pad(lower, ((0, 0), (1, 0)), constant_values=GAP)
    return np.vstack([upper, lower])
