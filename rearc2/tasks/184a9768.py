"""The loose pieces move, without turning, into the holes of the large blocks, so that they fill them exactly; a hole may
take two pieces. Grey cells disappear."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, colors, fill, holes, objects, paint, place

GREY = 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(18, 29), rng.randint(18, 29)
    blocks = [(rng.randint(6, 16), rng.randint(7, 14)) for _ in range(rng.choice([1, 2, 2]))]
    before, after = canvas(height, width), canvas(height, width)
    pieces = []
    shades = colors(rng, len(blocks), without=(0, GREY))
    for (tall, wide), shade, (top, left) in zip(blocks, shades, place(rng, before.shape, blocks), strict=True):
        fillings = [_filling(rng, shade) for _ in range(rng.randint(2, 6))]
        for grid in (before, after):
            fill(grid, top, left, tall, wide, shade)
        for filling, (r, c) in zip(fillings, place(rng, (tall, wide), [f.shape for f in fillings], margin=1), strict=True):
            paint(before, filling > 0, top + r, left + c, 0)
            paint(after, filling % 10, top + r, left + c)
            pieces += [filling[filling == mark] for mark in np.unique(filling)]
    return before, after
