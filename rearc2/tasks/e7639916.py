"""The smallest blue frame is drawn that holds the three sky-blue dots; the dots stay as parts of it."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, box, canvas, frame

DOT, BLUE = 8, 1


def generate(rng: Random) -> tuple[Grid, Grid]:
    shape = rng.randint(8, 20), rng.randint(10, 24)
    height, width = rng.randint(5, shape[0] - 2), rng.randint(5, shape[1] - 2)
    top, left = rng.randint(1, shape[0] - height - 1), rng.randint(1, shape[1] - width - 1)
    bottom, right = top + height - 1, left + width - 1
    # Three dots that touch all four sides: one in a corner, two on the sides opposite.
    corner = rng.choice((top, bottom)), rng.choice((left, right))
    dots = [
        corner,
        (top + bottom - corner[0], rng.randint(left, right)),
        (rng.randint(top, bottom), left + right - corner[1]),
    ]
    if any(abs(r - q) < 2 and abs(c - d) < 2 for r, c in dots for q, d in dots if (r, c) != (q, d)):
        raise Retry
    if len(set(dots)) < 3:
        raise Retry
    before, after = canvas(*shape), canvas(*shape)
    frame(after, top, left, height, width, BLUE)
    for dot in dots:
        before[dot] = after[dot] = DOT
    return before, after


def verify(grid: Grid) -> Grid:
    output = canvas(*grid.shape)
    frame(output, *box(grid == DOT), BLUE)
    return np.where(grid == DOT, DOT, output)
