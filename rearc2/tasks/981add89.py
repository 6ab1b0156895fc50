"""Every mark in the top row runs down its column in its colour, but shows the ground's colour where it crosses an area
of its own colour."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, fill, most_common


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = min(30, rng.randint(16, 36))
    crowded = side > 24  # there is room for it
    ground, *palette = colors(rng, rng.randint(5, 8) if crowded else rng.randint(3, 6))
    before = canvas(side, side, ground)
    for _ in range(rng.randint(4, 9) if crowded else rng.randint(1, 4)):
        height, width = rng.randint(4, side // 3), rng.randint(5, side // 2)
        top, left = rng.randint(1, side - height), rng.randint(0, side - width)
        fill(before, top, left, height, width, rng.choice(palette))
    after = before.copy()
    columns = rng.sample(range(0, side, 2), rng.randint(4, 8) if crowded else rng.randint(2, 5))
    crossings = 0
    for column in columns:
        color = rng.choice(palette)
        before[0, column] = after[0, column] = color
        own = before[1:, column] == color
        after[1:, column] = np.where(own, ground, color)
        crossings += own.any()
    if not crossings:
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    ground = most_common(grid[0])
    marks = np.broadcast_to(grid[0], grid.shape)
    output = np.where(marks == ground, grid, np.where(grid == marks, ground, marks))
    output[0] = grid[0]
    return output
