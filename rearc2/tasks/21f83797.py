"""Through both red cells run lines along the whole row and column; the rectangle between them is filled with blue."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, box, canvas, fill

RED, BLUE = 2, 1
SIDE = 13


def generate(rng: Random) -> tuple[Grid, Grid]:
    (top, bottom), (left, right) = sorted(rng.sample(range(SIDE), 2)), sorted(rng.sample(range(SIDE), 2))
    if min(bottom - top, right - left) < 2:
        raise Retry  # nothing between the lines
    before, after = canvas(SIDE, SIDE), canvas(SIDE, SIDE)
    before[top, left] = before[bottom, right] = RED
    fill(after, top, left, bottom - top, right - left, BLUE)
    after[[top, bottom]] = RED
    after[:, [left, right]] = RED
    return before, after


def verify(grid: Grid) -> Grid:
    red = grid == RED
    lines = red.any(axis=1)[:, None] | red.any(axis=0)[None, :]
    top, left, height, width = box(red)
    inside = np.zeros(grid.shape, bool)
    inside[top : top + height, left : left + width] = True
    return np.where(lines, RED, np.where(inside, BLUE, 0))
