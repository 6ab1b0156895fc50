"""The output is square, with a red roof whose ridge is the red cell of the input. Inside, blue lines run down to the
right on every fourth diagonal, counted from the right slope of the roof."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, line

RED, BLUE = 2, 1
CAP = 10  # the odd widths from 3 to 29 without the four official ones


def generate(rng: Random) -> tuple[Grid, Grid]:
    half = rng.randint(1, 14)
    side = 2 * half + 1
    before, after = canvas(1, side), canvas(side, side)
    before[0, half] = RED
    # A line starts at every second cell of the left slope, thought to go on beyond the grid.
    for top in range(2, side, 2):
        for step in range(1, side - top):
            if 0 <= half - top + step < side:
                after[top + step, half - top + step] = BLUE
    line(after, (0, half), (half, 0), RED)
    line(after, (0, half), (half, side - 1), RED)
    return before, after


def verify(grid: Grid) -> Grid:
    side = grid.shape[1]
    ridge = int((grid[0] == RED).argmax())
    rows, columns = np.indices((side, side))
    right_slope = columns - rows - ridge  # 0 on the right slope and its diagonal, negative below it
    left_slope = columns + rows - ridge  # 0 on the left slope, positive below it
    output = np.where((right_slope % 4 == 0) & (right_slope < 0) & (left_slope > 0), BLUE, 0)
    output[(right_slope == 0) | (left_slope == 0)] = RED
    return output
