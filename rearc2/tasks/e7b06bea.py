"""The coloured stripes on the right give way to one column just left of them: it repeats their colours from left to
right, each as long as the grey bar."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors

GREY = 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    palette = colors(rng, rng.choice((2, 2, 3, 3, 4)), without=(0, GREY))
    height, width = rng.randint(5, 18), len(palette) + rng.randint(3, 7)
    length = rng.randint(1, max(1, min(4, height // len(palette))))
    before = canvas(height, width)
    before[:length, 0] = GREY
    after = before.copy()
    before[:, -len(palette) :] = palette
    cycle = np.tile(np.repeat(palette, length), height)
    after[:, width - len(palette) - 1] = cycle[:height]
    return before, after


def verify(grid: Grid) -> Grid:
    stripes = [c for c in range(1, grid.shape[1]) if grid[0, c]]
    length = int((grid == GREY).sum())
    output = grid.copy()
    output[:, stripes] = 0
    for row in range(grid.shape[0]):
        output[row, stripes[0] - 1] = grid[0, stripes[row // length % len(stripes)]]
    return output
