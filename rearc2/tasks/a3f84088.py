"""The grey square frame is filled inwards with rings of red, grey, black and grey, over and over."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, box, canvas, fill, frame

GREY = 5
RINGS = (5, 2, 5, 0)  # from the frame inwards
WRONG = {"train 3": "the innermost cell stays black where it should be grey, as in train 2 and in the test"}


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = max(rng.randint(4, 30), rng.randint(4, 30))
    size = rng.randint(max(4, side // 2), side)
    top, left = rng.randint(0, side - size), rng.randint(0, side - size)
    before, after = canvas(side, side), canvas(side, side)
    frame(before, top, left, size, size, GREY)
    for depth in range((size + 1) // 2):
        fill(after, top + depth, left + depth, size - 2 * depth, size - 2 * depth, RINGS[depth % 4])
    return before, after


def verify(grid: Grid) -> Grid:
    top, left, height, width = box(grid == GREY)
    down, right = np.arange(height), np.arange(width)
    # How far each cell of the square is from its nearest edge.
    depth = np.minimum.outer(np.minimum(down, down[::-1]), np.minimum(right, right[::-1]))
    output = grid.copy()
    output[top : top + height, left : left + width] = np.array(RINGS)[depth % 4]
    return output
