"""Every 3x3 tile becomes its negative: its sky blue cells black, its black cells red."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, join, scatter

FIGURE, NEGATIVE = 8, 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    rows, columns = rng.randint(1, 5), rng.randint(2, 6)
    tiles = [[_tile(rng) for _ in range(columns)] for _ in range(rows)]
    before = join([[np.where(tile, FIGURE, 0) for tile in row] for row in tiles], 0)
    after = join([[np.where(tile, 0, NEGATIVE) for tile in row] for row in tiles], 0)
    return np.pad(before, 1), np.pad(after, 1)


def _tile(rng: Random) -> Grid:
    """Not full, and with a cell at every side."""
    while True:
        tile = scatter(rng, (3, 3), rng.uniform(0.5, 0.75))
        sides = (tile[0], tile[-1], tile[:, 0], tile[:, -1])
        if not tile.all() and all(side.any() for side in sides):
            return tile.astype(int)


def verify(grid: Grid) -> Grid:
    output = canvas(*grid.shape)
    height, width = grid.shape
    for top in range(1, height, 4):
        for left in range(1, width, 4):
            tile = slice(top, top + 3), slice(left, left + 3)
            output[tile] = np.where(grid[tile] == 0, NEGATIVE, 0)
    return output
