"""The cell in the grey corner names a colour: all other cells of that colour disappear."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, random_cells, scatter

WALL = 5
SIDE = 15


def generate(rng: Random) -> tuple[Grid, Grid]:
    (named,) = colors(rng, 1, without=(0, WALL))
    palette = [*range(1, 10), *[c for c in range(1, 10) if c != WALL], named, named]
    cells = random_cells(rng, (SIDE, SIDE), palette)
    before = np.where(scatter(rng, cells.shape, rng.uniform(0.06, 0.2)), cells, canvas(SIDE, SIDE))
    before[:4, :4] = 0
    if np.sum(before == named) < 3:
        raise Retry
    after = np.where(before == named, 0, before)
    for grid in (before, after):
        grid[3, :4] = grid[:4, 3] = WALL
        grid[1, 1] = named
    return before, after


def verify(grid: Grid) -> Grid:
    output = np.where(grid == grid[1, 1], 0, grid)
    output[1, 1] = grid[1, 1]
    return output
