"""The cross of coloured cells is folded together: the corners stay corners, the inner cells of the falling diagonal
come to the top and bottom, those of the rising one to the left and right."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors


def generate(rng: Random) -> tuple[Grid, Grid]:
    falling, falling_in, rising, rising_in, middle = colors(rng, 5)
    before = canvas(5, 5)
    for place in range(5):
        before[place, place] = falling if place in (0, 4) else falling_in
        before[place, 4 - place] = rising if place in (0, 4) else rising_in
    before[2, 2] = middle
    after = np.array(
        [[falling, falling_in, rising], [rising_in, middle, rising_in], [rising, falling_in, falling]]
    )
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid[::2, ::2].copy()
    output[0, 1], output[2, 1] = grid[1, 1], grid[3, 3]
    output[1, 0], output[1, 2] = grid[3, 1], grid[1, 3]
    return output
