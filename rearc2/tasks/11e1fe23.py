"""Three cells are corners of a square. Its centre becomes grey, and around the centre lie small images of the corners,
each in the direction of its corner."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors

GREY = 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    half = rng.choice([3, 3, 4, 4, 5, 6])
    height, width = 2 * half + 1 + rng.randint(2, 7), 2 * half + 1 + rng.randint(2, 7)
    row, column = rng.randint(half, height - 1 - half), rng.randint(half, width - 1 - half)
    before, after = canvas(height, width), canvas(height, width)
    corners = rng.sample([(-1, -1), (-1, 1), (1, -1), (1, 1)], 3)
    for (down, right), color in zip(corners, colors(rng, 3, without=(0, GREY)), strict=True):
        before[row + half * down, column + half * right] = color
        after[row + half * down, column + half * right] = color
        after[row + down, column + right] = color
    after[row, column] = GREY
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    cells = np.argwhere(grid)
    centre = (cells.min(axis=0) + cells.max(axis=0)) // 2
    output[tuple(centre)] = GREY
    for cell in cells:
        output[tuple(centre + np.sign(cell - centre))] = grid[tuple(cell)]
    return output
