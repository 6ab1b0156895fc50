"""Every other column has a blue bar with a sky blue piece on top. The bars are lifted until these pieces end at the red
line, all equally high, and the blue begins at the grey one; the gap below is filled with maroon."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, fill

GROUND, RED, GREY, TOP, BAR, GAP = 7, 2, 5, 8, 1, 9


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = 2 * rng.randint(4, 9) + 1
    red_row = rng.randint(2, side - 5)
    below = side - 1 - red_row
    top = rng.randint(2, min(red_row + 1, 6))
    before, after = canvas(side, side, GROUND), canvas(side, side, GROUND)
    for grid in (before, after):
        grid[red_row, ::2], grid[red_row + 1, ::2] = RED, GREY
    bars = [rng.randint(1, below - 1) for _ in range(1, side, 2)]
    if len(set(bars)) < 2:
        raise Retry
    for number, length in enumerate(bars):
        column = 2 * number + 1
        fill(before, side - length - top, column, top, 1, TOP)
        fill(before, side - length, column, length, 1, BAR)
        fill(after, red_row + 1 - top, column, top, 1, TOP)
        fill(after, red_row + 1, column, length, 1, BAR)
        fill(after, red_row + 1 + length, column, below - length, 1, GAP)
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    line = int(np.flatnonzero((grid == GREY).any(axis=1))[0])
    # All columns become equally high, as the highest of them: officially one piece is a cell shorter.
    top = int((grid == TOP).sum(axis=0).max())
    for column in range(1, grid.shape[1], 2):
        bar = int((grid[:, column] == BAR).sum())
        output[:line, column] = GROUND
        output[line - top : line, column] = TOP
        output[line : line + bar, column] = BAR
        output[line + bar :, column] = GAP
    return output
