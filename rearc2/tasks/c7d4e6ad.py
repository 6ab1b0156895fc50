"""Every grey cell gets the colour of the cell at the left border of its row."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors, paint, random_shape

GREY, SIDE = 5, 10


def generate(rng: Random) -> tuple[Grid, Grid]:
    height = rng.randint(5, 9)
    top = rng.randint(0, SIDE - height)
    cuts = sorted(rng.sample(range(1, height), rng.randint(1, 4)))
    tones = colors(rng, len(cuts) + 1, without=(0, GREY))
    width = rng.randint(3, 7)
    figure = random_shape(rng, height, width, rng.uniform(0.3, 0.6))
    left = rng.randint(2, SIDE - width)
    before = canvas(SIDE, SIDE)
    paint(before, figure, top, left, GREY)
    after = canvas(SIDE, SIDE)
    for start, end, color in zip([0, *cuts], [*cuts, height], tones, strict=True):
        before[top + start : top + end, 0] = after[top + start : top + end, 0] = color
        paint(after, figure[start:end], top + start, left, color)
    return before, after


def verify(grid: Grid) -> Grid:
    return np.where(grid == GREY, grid[:, :1], grid)
