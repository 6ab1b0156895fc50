"""Every solid rectangle keeps its outline, and inside it becomes a checkerboard with black cells, beginning with a
black one in the upper left corner."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors, fill, objects, place


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(12, 24), rng.randint(12, 24)
    count = rng.randint(1, 5 if height * width > 300 else 3)
    sizes = [(rng.randint(5, 10), rng.randint(5, 12)) for _ in range(count)]
    before, after = canvas(height, width), canvas(height, width)
    tones = colors(rng, count)
    for color, size, (top, left) in zip(tones, sizes, place(rng, before.shape, sizes), strict=True):
        for grid in (before, after):
            fill(grid, top, left, *size, color)
        for row in range(1, size[0] - 1):
            for column in range(1 + (row + 1) % 2, size[1] - 1, 2):
                after[top + row, left + column] = 0
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for thing in objects(grid):
        inside = output[thing.top + 1 : thing.bottom, thing.left + 1 : thing.right]
        rows, columns = np.indices(inside.shape)
        inside[(rows + columns) % 2 == 0] = 0
    return output
