"""The lines become concentric square rings, the longest outside: the output has the side of the longest line."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors, fill, objects, paint, place


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(3, 6)
    side = 2 * count - rng.randint(0, 1)
    lengths = [side - 2 * ring for ring in range(count)]
    if rng.random() < 0.2:
        lengths[rng.randint(1, count - 2)] += 1  # only the order counts
    palette = colors(rng, count)
    height, width = rng.randint(20, 30), rng.randint(20, 30)
    shapes = [(length, 1) if rng.random() < 0.5 else (1, length) for length in lengths]
    before, after = canvas(height, width), canvas(side, side)
    for ring, (top, left) in enumerate(place(rng, before.shape, shapes)):
        paint(before, np.ones(shapes[ring], bool), top, left, palette[ring])
        fill(after, ring, ring, side - 2 * ring, side - 2 * ring, palette[ring])
    return before, after


def verify(grid: Grid) -> Grid:
    lines = sorted(objects(grid), key=lambda thing: -thing.size)
    side = lines[0].size
    row, column = np.indices((side, side))
    ring = np.minimum(np.minimum(row, column), np.minimum(side - 1 - row, side - 1 - column))
    return np.array([line.color for line in lines])[ring]
