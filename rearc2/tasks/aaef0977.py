"""The single dot is the centre of diamonds that fill the grid: the colour of a cell follows from its distance (rows
plus columns) to the dot, in a fixed cycle of nine colours that starts with the dot's own."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas

CYCLE = [3, 4, 0, 5, 2, 8, 9, 6, 1]
BACKGROUND = 7


def generate(rng: Random) -> tuple[Grid, Grid]:
    # The official grids are all 8x8; with that size alone there would be no more than 576 pairs.
    height, width = rng.choice([(8, 8), (rng.randint(6, 11), rng.randint(6, 11))])
    row, column = rng.randrange(height), rng.randrange(width)
    start = rng.randrange(len(CYCLE))
    before, after = canvas(height, width, BACKGROUND), canvas(height, width)
    before[row, column] = CYCLE[start]
    for r in range(height):
        for c in range(width):
            after[r, c] = CYCLE[(start + abs(r - row) + abs(c - column)) % len(CYCLE)]
    return before, after


def verify(grid: Grid) -> Grid:
    ((row, column),) = np.argwhere(grid != BACKGROUND)
    rows, columns = np.indices(grid.shape)
    distance = abs(rows - row) + abs(columns - column)
    turned = np.roll(CYCLE, -CYCLE.index(grid[row, column]))
    return turned[distance % len(CYCLE)]
