"""Concentric square rings have lost cells to black: each ring becomes whole in its own colour."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, fill, scatter


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(2, 4)
    # Neighbouring rings of one colour make a layer; the outermost ring may be black, as nothing.
    thickness = [rng.randint(1, 3) for _ in range(count)]
    thickness[-1] = rng.randint(1, 4)
    palette = colors(rng, count)
    if rng.random() < 0.3:
        thickness, palette = [1, *thickness], [0, *palette]
    side = 2 * sum(thickness) - (thickness[-1] > 1 and rng.random() < 0.3)
    if not 7 <= side <= 20:
        raise Retry
    after = canvas(side, side)
    start = 0
    for color, rings in zip(palette, thickness, strict=True):
        fill(after, start, start, side - 2 * start, side - 2 * start, color)
        start += rings
    before = np.where(scatter(rng, after.shape, rng.uniform(0.3, 0.55)), 0, after)
    # Of every ring something is left.
    for ring in range((side + 1) // 2):
        part = slice(ring, side - ring)
        here = before[part, part]
        rim = [*here[0], *here[-1], *here[:, 0], *here[:, -1]]
        if len(set(rim) - {0}) != (after[ring, ring] != 0):
            raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    row, column = np.indices(grid.shape)
    last = len(grid) - 1
    depth = np.minimum(np.minimum(row, column), np.minimum(last - row, last - column))
    for ring in range(int(depth.max()) + 1):
        output[depth == ring] = grid[depth == ring].max()
    return output
