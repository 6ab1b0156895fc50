"""The four outer dots give the place and colour of a frame's sides (top and bottom own the corners), and a grey
cross runs through the red dot within it."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors

RED, GREY = 2, 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(11, 20), rng.randint(11, 20)
    top, bottom = rng.randint(0, 3), height - 1 - rng.randint(0, 3)
    left, right = rng.randint(0, 3), width - 1 - rng.randint(0, 3)
    top_color, bottom_color, left_color, right_color = colors(rng, 4, without=(0, RED, GREY))
    row, column = rng.randint(top + 2, bottom - 2), rng.randint(left + 2, right - 2)
    before, after = canvas(height, width), canvas(height, width)
    before[top, rng.randint(left + 1, right - 1)] = top_color
    before[bottom, rng.randint(left + 1, right - 1)] = bottom_color
    before[rng.randint(top + 1, bottom - 1), left] = left_color
    before[rng.randint(top + 1, bottom - 1), right] = right_color
    before[row, column] = RED
    after[row, left:right] = after[top:bottom, column] = GREY
    after[row, column] = RED
    after[top:bottom, left], after[top:bottom, right] = left_color, right_color
    after[top, left : right + 1], after[bottom, left : right + 1] = top_color, bottom_color
    return before, after


def verify(grid: Grid) -> Grid:
    dots = [(r, c, int(grid[r, c])) for r, c in np.argwhere(grid).tolist()]
    top, bottom = min(dots), max(dots)
    left, right = min(dots, key=lambda dot: dot[1]), max(dots, key=lambda dot: dot[1])
    ((row, column),) = np.argwhere(grid == RED).tolist()
    output = canvas(*grid.shape)
    inside = slice(top[0] + 1, bottom[0]), slice(left[1] + 1, right[1])
    output[row, inside[1]] = output[inside[0], column] = GREY
    output[row, column] = RED
    output[inside[0], left[1]] = left[2]
    output[inside[0], right[1]] = right[2]
    output[top[0], left[1] : right[1] + 1] = top[2]
    output[bottom[0], left[1] : right[1] + 1] = bottom[2]
    return output
