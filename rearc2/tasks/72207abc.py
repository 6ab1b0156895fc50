"""The dots of the middle row begin a series whose steps grow by one (columns 0, 1, 3, 6, 10, ...); it goes on to the
right border, with the given colours in turn."""

from itertools import accumulate, count
from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors

COLUMNS = (0, 1, 3, 6, 10, 15, 21, 28)


def generate(rng: Random) -> tuple[Grid, Grid]:
    given = rng.choice([2, 2, 3, 3, 4])
    # The length of the series first, evenly: an even width would make mostly short ones.
    length = rng.randint(given + 1, len(COLUMNS))
    width = rng.randint(COLUMNS[length - 1] + 1, min(30, (*COLUMNS, 36)[length]))
    palette = colors(rng, given)
    before, after = canvas(3, width), canvas(3, width)
    for number, column in enumerate(COLUMNS):
        if column < width:
            after[1, column] = palette[number % given]
            if number < given:
                before[1, column] = palette[number]
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    dots = grid[1][np.flatnonzero(grid[1])]
    for number, column in enumerate(accumulate(count())):
        if column >= grid.shape[1]:
            return output
        output[1, column] = dots[number % len(dots)]
    return output
