"""The input lies bottom right in the output, its left-right mirror image beside it on the left, and the up-down mirror
image of the two above."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, random_cells

HEIGHT, WIDTH = 3, 4


def generate(rng: Random) -> tuple[Grid, Grid]:
    before = random_cells(rng, (HEIGHT, WIDTH), colors(rng, 3))
    images = before[::-1], before[:, ::-1], before[::-1, ::-1]
    if len(np.unique(before)) < 3 or any(np.array_equal(before, image) for image in images):
        raise Retry
    after = canvas(2 * HEIGHT, 2 * WIDTH)
    for r in range(HEIGHT):
        for c in range(WIDTH):
            for row in (HEIGHT + r, HEIGHT - 1 - r):
                for column in (WIDTH + c, WIDTH - 1 - c):
                    after[row, column] = before[r, c]
    return before, after


def verify(grid: Grid) -> Grid:
    lower = np.hstack([grid[:, ::-1], grid])
    return np.vstack([lower[::-1], lower])
