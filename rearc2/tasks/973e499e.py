"""Every cell becomes a copy of the whole grid, in which only the cells of its own colour are left."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, colors, random_cells


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(3, 5)
    palette = colors(rng, rng.randint(2, 4))
    before = random_cells(rng, (side, side), palette + palette[:1] * rng.randint(0, 3))
    if len(np.unique(before)) < len(palette):
        raise Retry
    copies = [[np.where(before == color, before, 0) for color in row] for row in before]
    return before, np.block(copies)


def verify(grid: Grid) -> Grid:
    blocks, tiles = np.kron(grid, np.ones_like(grid)), np.tile(grid, grid.shape)
    return np.where(blocks == tiles, tiles, 0)
