"""The two halves beside the red line are laid over each other: cells that are orange in either half turn blue."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, scatter

ORANGE, LINE, RESULT = 7, 2, 1
HEIGHT, WIDTH = 5, 6  # of a half


def generate(rng: Random) -> tuple[Grid, Grid]:
    left, right = (scatter(rng, (HEIGHT, WIDTH), rng.uniform(0.4, 0.6)) for _ in range(2))
    before = np.hstack([left * ORANGE, canvas(HEIGHT, 1, LINE), right * ORANGE])
    return before, np.where(left | right, RESULT, 0)


def verify(grid: Grid) -> Grid:
    output = canvas(HEIGHT, WIDTH)
    for row, column in np.argwhere(grid == ORANGE).tolist():
        output[row, column % (WIDTH + 1)] = RESULT
    return output
