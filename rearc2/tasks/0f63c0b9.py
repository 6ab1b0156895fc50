"""Each cell becomes a line through its whole row, and the frame around the grid takes the colour of the nearest line;
half way between two lines it takes the upper one's."""

from itertools import pairwise
from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, fill

SIDE = 15


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(3, 5)
    rows = sorted(rng.sample(range(1, SIDE - 1), count))
    if any(lower - upper < 2 for upper, lower in pairwise(rows)):
        raise Retry
    before, after = canvas(SIDE, SIDE), canvas(SIDE, SIDE)
    top = 0  # of the part of the frame that has this line's colour
    for number, (row, color) in enumerate(zip(rows, colors(rng, count), strict=True)):
        end = (row + rows[number + 1]) // 2 + 1 if number + 1 < count else SIDE
        before[row, rng.randrange(1, SIDE - 1)] = color
        fill(after, top, 0, end - top, 1, color)
        fill(after, top, SIDE - 1, end - top, 1, color)
        after[row] = color
        top = end
    after[0], after[-1] = after[0, 0], after[-1, 0]
    return before, after


def verify(grid: Grid) -> Grid:
    edge = np.zeros(grid.shape, bool)
    edge[0] = edge[-1] = edge[:, 0] = edge[:, -1] = True
    rows = np.flatnonzero(grid.any(axis=1))  # from the top: argmin takes the upper of two equally near ones
    distance = np.abs(np.arange(len(grid))[:, None] - rows)
    color = grid[rows].max(axis=1)[distance.argmin(axis=1)]
    edge[rows] = True
    return np.where(edge, color[:, None], 0)
