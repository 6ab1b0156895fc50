"""The bars are counted: in reading order the output of 2x3 cells has one green cell for every green bar, then one red
cell for every red bar, and black cells to the end."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors, fill, objects, place

GREEN, RED = 3, 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(9, 18), rng.randint(9, 20)
    total = rng.randint(2, 6)
    green = rng.randint(1, total - 1)
    bars = [GREEN] * green + [RED] * (total - green)
    (ground,) = colors(rng, 1, without=(GREEN, RED))
    before = canvas(height, width, ground)
    lengths = [rng.randint(2, 8) for _ in bars]
    places = place(rng, before.shape, [(1, length) for length in lengths])
    for color, length, (top, left) in zip(bars, lengths, places, strict=True):
        fill(before, top, left, 1, length, color)
    return before, np.array(bars + [0] * (6 - total)).reshape(2, 3)


def verify(grid: Grid) -> Grid:
    output = canvas(2, 3)
    bars = [len(objects(np.where(grid == color, color, 0))) for color in (GREEN, RED)]
    output.ravel()[: sum(bars)] = np.repeat([GREEN, RED], bars)
    return output
