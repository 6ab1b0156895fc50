"""The picture is enlarged: every cell becomes a block of 2x2 cells."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, background, canvas, colors, paint, random_shape, upscale


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(3, 9)
    before = canvas(side, side)
    for color in colors(rng, 2):
        height, width = rng.randint(1, side - 1), rng.randint(1, side - 1)
        shape = random_shape(rng, height, width, rng.uniform(0.2, 0.6), diagonal=True)
        paint(before, shape, rng.randint(0, side - height), rng.randint(0, side - width), color)
    if len(np.unique(before)) < 3 or background(before) != 0:
        raise Retry
    return before, upscale(before, 2)


def verify(grid: Grid) -> Grid:
    return np.kron(grid, np.ones((2, 2), np.int64))
