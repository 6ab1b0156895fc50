"""In a strip of two columns the two colours change places from row to row. Every second row of the strip moves one cell
to the right."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors, mostly

GROUND = 7


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = mostly(rng, 4, 6, 12)
    first, second = colors(rng, 2, without=(GROUND,))
    top = rng.choice([0, rng.randint(0, side - 3)])
    bottom = side if top == 0 and rng.random() < 0.6 else rng.randint(top + 2, side)
    column = rng.randint(0, side - 3)
    before, after = canvas(side, side, GROUND), canvas(side, side, GROUND)
    for number, row in enumerate(range(top, bottom)):
        pair = (first, second) if number % 2 == 0 else (second, first)
        before[row, column : column + 2] = pair
        start = column + number % 2
        after[row, start : start + 2] = pair
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    strip = np.flatnonzero((grid != GROUND).any(axis=1))
    for row in strip[1::2]:
        output[row] = np.roll(grid[row], 1)
    return output
