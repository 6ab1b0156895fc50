"""The coloured seed spreads in steps of two, up, down and sideways, over the whole grid: every empty cell that is an
even number of rows and columns away takes its colour."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors, fill, scatter

WALL = 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(11, 20), rng.randint(11, 20)
    (color,) = colors(rng, 1, without=(0, WALL))
    wall = scatter(rng, (height, width), rng.uniform(0.55, 0.8))
    top, left = rng.randint(1, 2), rng.randint(2, 3)
    bottom, right = height - rng.randint(2, 4), width - rng.randint(2, 3)
    clear = canvas(height, width)
    fill(clear, top, left, bottom - top, right - left, 1)
    # The clearing's left and right borders are ragged.
    for row in range(top, bottom):
        clear[row, left - 1 : left] = rng.random() < 0.1
        clear[row, right : right + 1] = rng.random() < 0.4
        clear[row, right - 1] = rng.random() < 0.8
    wall &= clear == 0
    seed = rng.randint(top + 1, bottom - 2), rng.randint(left + 2, right - 3)
    before = canvas(height, width)
    before[wall] = WALL
    before[seed] = color
    after = before.copy()
    for row in range(seed[0] % 2, height, 2):
        for column in range(seed[1] % 2, width, 2):
            if not wall[row, column]:
                after[row, column] = color
    return before, after


def verify(grid: Grid) -> Grid:
    seed = (grid != 0) & (grid != WALL)
    row, column = np.argwhere(seed)[0].tolist()
    rows, columns = np.indices(grid.shape)
    reached = ((rows - row) % 2 == 0) & ((columns - column) % 2 == 0)
    return np.where(reached & (grid == 0), grid[row, column], grid)
