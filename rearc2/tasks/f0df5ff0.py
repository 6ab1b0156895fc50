"""Every blue cell spreads to the black cells around it, over edges and corners."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, colors, grow, random_cells, scatter

SIDE, BLUE = 15, 1


def generate(rng: Random) -> tuple[Grid, Grid]:
    palette = [2, 3, *colors(rng, rng.randint(2, 6), without=(0, BLUE, 2, 3))]
    noise = random_cells(rng, (SIDE, SIDE), palette)
    before = np.where(scatter(rng, noise.shape, rng.uniform(0.32, 0.45)), noise, 0)
    blue = scatter(rng, noise.shape, rng.uniform(0.02, 0.06))
    if not 4 <= blue.sum() <= 12:
        raise Retry
    before[blue] = BLUE
    after = before.copy()
    after[grow(blue) & (before == 0)] = BLUE
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for row, column in np.argwhere(grid == BLUE):
        around = output[max(0, row - 1) : row + 2, max(0, column - 1) : column + 2]
        around[around == 0] = BLUE
    return output
