"""The red line turns clockwise by a quarter around the grey cell at its end and leaves a green one where it was."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, line

RED, GREY, GREEN = 2, 5, 3
STEPS = [(-1, 0), (0, 1), (1, 0), (0, -1)]  # clockwise


def generate(rng: Random) -> tuple[Grid, Grid]:
    length = rng.randint(1, 6)
    turn = rng.randrange(4)
    old, new = STEPS[turn], STEPS[(turn + 1) % 4]
    # Room for both lines around the grey cell, and some more.
    room = [
        max(0, old[0], new[0]),
        max(0, old[1], new[1]),
        max(0, -old[0], -new[0]),
        max(0, -old[1], -new[1]),
    ]
    below, right, above, left = (length * side + rng.choice([0, 1, 1, 2, 3]) for side in room)
    row, column = above, left
    before = canvas(max(3, above + 1 + below), max(3, left + 1 + right))
    before[row, column] = GREY
    after = before.copy()
    for grid, step, color in ((before, old, RED), (after, old, GREEN), (after, new, RED)):
        start = row + step[0], column + step[1]
        line(grid, start, (row + length * step[0], column + length * step[1]), color)
    return before, after


def verify(grid: Grid) -> Grid:
    output = np.where(grid == RED, GREEN, grid)
    ((row, column),) = np.argwhere(grid == GREY).tolist()
    for red_row, red_column in np.argwhere(grid == RED).tolist():
        down, right = red_row - row, red_column - column
        output[row + right, column - down] = RED
    return output
