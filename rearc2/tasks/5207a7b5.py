"""The grey bar is one of a row of pipes that hang from the top and get two cells shorter from each to the next, from
left to right: sky blue ones left of it, pink ones right of it."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, fill

GREY, LEFT, RIGHT = 5, 8, 6


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(9, 24), rng.randint(5, 14)
    length = rng.randint(3, height // 2 + 1)
    column = rng.randint(1, width - 2)
    before, after = canvas(height, width), canvas(height, width)
    fill(before, 0, column, length, 1, GREY)
    for number in range(width):
        pipe = length + 2 * (column - number)
        if pipe > 0:
            color = LEFT if number < column else RIGHT if number > column else GREY
            fill(after, 0, number, pipe, 1, color)
    return before, after


def verify(grid: Grid) -> Grid:
    rows, columns = np.nonzero(grid == GREY)
    down, right = np.indices(grid.shape)
    # The pipes end on a line that goes down two cells for every cell to the left.
    covered = down + 2 * right <= rows.max() + 2 * columns.max()
    sides = np.where(right < columns.max(), LEFT, RIGHT)
    return np.where(grid == GREY, GREY, np.where(covered, sides, 0))
