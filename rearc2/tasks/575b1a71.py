"""The black cells lie in four columns: from left to right they become blue, red, green and yellow."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas

GREY = 5
SIDE = 10
ORDER = (1, 2, 3, 4)  # colours of the columns with black cells, from left to right


def generate(rng: Random) -> tuple[Grid, Grid]:
    before, after = canvas(SIDE, SIDE, GREY), canvas(SIDE, SIDE, GREY)
    for color, column in zip(ORDER, sorted(rng.sample(range(SIDE), len(ORDER))), strict=True):
        rows = rng.sample(range(SIDE), rng.randint(1, 5))
        before[rows, column] = 0
        after[rows, column] = color
    return before, after


def verify(grid: Grid) -> Grid:
    rank = (grid == 0).any(axis=0).cumsum()  # 1 at the first column with black cells, and so on
    return np.where(grid == 0, np.array([0, *ORDER])[rank], grid)
