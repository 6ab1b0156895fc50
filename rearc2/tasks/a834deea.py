"""The free cells inside each black 5x5 frame are coloured by their place in its 3x3 inside; the middle stays black."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, objects, place, scatter

GROUND = 8
COLORS = ((1, 7, 6), (4, 0, 5), (2, 9, 3))


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(9, 20)
    before, after = canvas(side, side, GROUND), canvas(side, side, GROUND)
    count = rng.randint(1, 1 + side * side // 50)
    for top, left in place(rng, before.shape, [(5, 5)] * count):
        solid = scatter(rng, (3, 3), rng.uniform(0.3, 0.75))
        before[top : top + 5, left : left + 5] = after[top : top + 5, left : left + 5] = 0
        before[top + 1 : top + 4, left + 1 : left + 4][solid] = GROUND
        after[top + 1 : top + 4, left + 1 : left + 4] = np.where(solid, GROUND, COLORS)
    if (before == after).all():
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for thing in objects(grid, background=GROUND):
        # A free middle with nothing free around it is a piece of its own, and stays.
        if thing.height == 5:
            for row, column in thing.cells:
                down, right = row - thing.top - 1, column - thing.left - 1
                if 0 <= down < 3 and 0 <= right < 3:
                    output[row, column] = COLORS[down][right]
    return output
