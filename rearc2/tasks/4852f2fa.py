"""The sky blue figure, in a window of 3x3 cells, is repeated side by side, once for every yellow dot. A figure of two
rows stands at the bottom of its window."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, crop, paint, place, random_shape

FIGURE, DOT = 8, 4


def generate(rng: Random) -> tuple[Grid, Grid]:
    height = 2 if rng.random() < 0.15 else 3
    figure = random_shape(rng, height, 3, rng.uniform(0.4, 0.75), diagonal=rng.random() < 0.5)
    if figure.all():
        raise Retry
    count = rng.randint(1, 6)
    before = canvas(9, 9)
    (top, left), *dots = place(rng, before.shape, [figure.shape] + [(1, 1)] * count)
    paint(before, figure, top, left, FIGURE)
    for row, column in dots:
        before[row, column] = DOT
    after = canvas(3, 3 * count)
    for number in range(count):
        paint(after, figure, 3 - height, 3 * number, FIGURE)
    return before, after


def verify(grid: Grid) -> Grid:
    figure = crop(grid, grid == FIGURE)
    window = np.pad(figure, ((3 - len(figure), 0), (0, 0)))
    return np.tile(window, (1, int((grid == DOT).sum())))
