"""The upper and the lower half are laid over each other: cells that are set in exactly one of them become pink."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, paint, scatter

HEIGHT, WIDTH = 3, 5
UPPER, LOWER, PINK = 9, 4, 6


def generate(rng: Random) -> tuple[Grid, Grid]:
    upper = scatter(rng, (HEIGHT, WIDTH), rng.uniform(0.35, 0.6))
    lower = scatter(rng, (HEIGHT, WIDTH), rng.uniform(0.5, 0.65))
    if upper.sum() < 3 or lower.sum() < 3:
        raise Retry
    before, after = canvas(2 * HEIGHT, WIDTH), canvas(HEIGHT, WIDTH)
    paint(before, upper, 0, 0, UPPER)
    paint(before, lower, HEIGHT, 0, LOWER)
    paint(after, upper != lower, 0, 0, PINK)
    return before, after


def verify(grid: Grid) -> Grid:
    upper, lower = np.split(grid, 2)
    return np.where((upper != 0) ^ (lower != 0), PINK, 0)
