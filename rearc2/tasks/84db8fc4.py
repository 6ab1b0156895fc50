"""Black areas that reach the border of the grid turn red, enclosed ones grey; areas join over edges only."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, grow, outside, random_cells

BORDER, ENCLOSED = 2, 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    palette = [0] * rng.randint(6, 9) + [1] * rng.randint(5, 7) + [3] * rng.randint(5, 7)
    before = random_cells(rng, (10, 10), palette)
    black = before == 0
    reached = black.copy()
    reached[1:-1, 1:-1] = False
    while True:
        further = grow(reached, diagonal=False) & black
        if (further == reached).all():
            break
        reached = further
    if not (black & ~reached).sum() >= 8 or reached[1:-1, 1:-1].sum() < 5:
        raise Retry
    return before, np.where(reached, BORDER, np.where(black, ENCLOSED, before))


def verify(grid: Grid) -> Grid:
    output = np.where(grid == 0, ENCLOSED, grid)
    output[outside(grid != 0)] = BORDER
    return output
