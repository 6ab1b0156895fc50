"""The figure is set four times around an empty middle: on the left as it is, and turned by quarters on the other
sides. (It is symmetric, so mirroring does the same.)"""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, crop, paint, random_shape

INK = 4


def generate(rng: Random) -> tuple[Grid, Grid]:
    height = rng.choice([3, 5, 5, 7])
    width = rng.randint(3, min(8, height + 2))
    half = random_shape(rng, height, width, rng.uniform(0.2, 0.5), diagonal=True)
    figure = half | half[::-1]
    if (figure == figure[:, ::-1]).all():  # which end shows to the middle would not be seen
        raise Retry
    rows, columns = height + rng.randint(1, 5), width + rng.randint(1, 5)
    if 2 * figure.sum() > rows * columns:  # the background must be more than the figure
        raise Retry
    before = canvas(rows, columns)
    paint(before, figure, rng.randint(0, rows - height), rng.randint(0, columns - width), INK)
    side = height + 2 * width
    after = canvas(side, side)
    paint(after, figure, width, 0, INK)
    paint(after, figure.T, 0, width, INK)
    paint(after, figure[:, ::-1], width, width + height, INK)
    paint(after, figure.T[::-1], width + height, width, INK)
    return before, after


def verify(grid: Grid) -> Grid:
    figure = crop(grid)
    height, width = figure.shape
    output = canvas(height + 2 * width, height + 2 * width)
    for _ in range(4):
        output = np.rot90(output)
        paint(output, figure, width, 0)
    return output
