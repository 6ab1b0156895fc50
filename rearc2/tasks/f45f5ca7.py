"""Every cell of the first column moves right along its row, as far as its colour says: sky blue 1, red 2, yellow 3,
green 4."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas

COLUMN = {8: 1, 2: 2, 4: 3, 3: 4}
SIDE = 10


def generate(rng: Random) -> tuple[Grid, Grid]:
    before, after = canvas(SIDE, SIDE), canvas(SIDE, SIDE)
    for row in rng.sample(range(SIDE), rng.randint(5, SIDE)):
        color = rng.choice(list(COLUMN))
        before[row, 0] = after[row, COLUMN[color]] = color
    if len(np.unique(before)) < 1 + len(COLUMN):
        raise Retry  # every colour shows where it goes
    return before, after


def verify(grid: Grid) -> Grid:
    output = np.zeros_like(grid)
    for row, color in enumerate(grid[:, 0]):
        if color:
            output[row, COLUMN[int(color)]] = color
    return output
