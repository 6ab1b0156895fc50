"""The dot in the middle disappears and the border of the grid takes its colour."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors, frame

CAP = 436  # odd sides from 3 to 15 in 9 colours, less the five official ones; larger grids are mostly empty


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = 2 * rng.randint(1, 7) + 1, 2 * rng.randint(1, 7) + 1
    (color,) = colors(rng, 1)
    before, after = canvas(height, width), canvas(height, width)
    before[height // 2, width // 2] = color
    frame(after, 0, 0, height, width, color)
    return before, after


def verify(grid: Grid) -> Grid:
    output = np.full_like(grid, grid.max())
    output[1:-1, 1:-1] = 0
    return output
