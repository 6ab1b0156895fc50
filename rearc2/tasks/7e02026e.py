"""Every plus sign of five black cells in the noise becomes green."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, grow, scatter

GREEN, NOISE = 3, 8
SIDE = 12


def generate(rng: Random) -> tuple[Grid, Grid]:
    noise = scatter(rng, (SIDE, SIDE), rng.uniform(0.5, 0.65))
    for _ in range(rng.randint(1, 5)):
        row, column = rng.randint(1, SIDE - 2), rng.randint(1, SIDE - 2)
        noise[row - 1 : row + 2, column] = noise[row, column - 1 : column + 2] = False
    before = noise * np.int64(NOISE)
    free = ~noise
    centers = np.zeros((SIDE, SIDE), bool)
    centers[1:-1, 1:-1] = (
        free[1:-1, 1:-1] & free[:-2, 1:-1] & free[2:, 1:-1] & free[1:-1, :-2] & free[1:-1, 2:]
    )
    if centers.sum() > 8:
        raise Retry
    return before, np.where(grow(centers, diagonal=False), GREEN, before)


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for row in range(1, len(grid) - 1):
        for column in range(1, len(grid[0]) - 1):
            plus = [(row, column), (row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
            if all(grid[place] == 0 for place in plus):
                for place in plus:
                    output[place] = GREEN
    return output
