"""The cells are counted by colour: column k - 1 gets a bar, from the bottom up, with as many cells as there are of
colour k."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas

SIDE, COLORS = 10, (1, 2, 3, 4)


def generate(rng: Random) -> tuple[Grid, Grid]:
    counts = [rng.randint(1, SIDE) for _ in COLORS]
    before, after = canvas(SIDE, SIDE), canvas(SIDE, SIDE)
    cells = rng.sample(range(SIDE * SIDE), sum(counts))
    for column, (color, count) in enumerate(zip(COLORS, counts, strict=True)):
        for _ in range(count):
            before[divmod(cells.pop(), SIDE)] = color
        after[SIDE - count :, column] = color
    return before, after


def verify(grid: Grid) -> Grid:
    output = np.zeros_like(grid)
    for color in COLORS:
        output[len(grid) - int((grid == color).sum()) :, color - 1] = color
    return output
