"""Two lines meet in a corner. They change places with the layer of the area next to them; what is left of the area
becomes sky blue but for the diagonal from its corner, and so do the corners of both layers."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors

SKY = 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(4, 14), rng.randint(4, 14)
    line, area = colors(rng, 2, without=(0, SKY))
    # Drawn for the upper left corner, then mirrored.
    before = canvas(height, width, area)
    before[0] = before[:, 0] = line
    after = canvas(height, width, SKY)
    after[0, 1:] = after[1:, 0] = area
    after[1, 2:] = after[2:, 1] = line
    for step in range(2, min(height, width)):
        after[step, step] = area
    down, right = rng.choice([1, -1]), rng.choice([1, -1])
    return before[::down, ::right], after[::down, ::right]


def verify(grid: Grid) -> Grid:
    height, width = grid.shape
    rows = [row for row in (0, height - 1) if (grid[row] == grid[row, 0]).all()]
    columns = [column for column in (0, width - 1) if (grid[:, column] == grid[0, column]).all()]
    line = int(grid[rows[0], columns[0]])
    area = int(grid[height - 1 - rows[0], width - 1 - columns[0]])
    down, right = np.indices(grid.shape)
    down, right = abs(down - rows[0]), abs(right - columns[0])  # distances from the two lines
    output = np.full_like(grid, SKY)
    layer = np.minimum(down, right)
    output[layer == 0] = area
    output[layer == 1] = line
    output[down == right] = np.where(layer < 2, SKY, area)[down == right]
    return output
