"""Each red cell in the bottom row climbs straight up. Below a grey cell it moves to the right until it can climb again;
it stops where the way to the right is closed too."""

from itertools import pairwise
from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, retrying, scatter

CLIMBER, ROCK = 2, 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width, count = rng.randint(10, 20), rng.randint(10, 20), rng.randint(1, 5)
    return retrying(lambda: _draw(rng, height, width, count))


def _draw(rng: Random, height: int, width: int, count: int) -> tuple[Grid, Grid]:
    before = canvas(height, width)
    before[scatter(rng, before.shape, rng.uniform(0.1, 0.27))] = ROCK
    starts = sorted(rng.sample(range(1, width - 1), count))
    if any(right - left < 2 for left, right in pairwise(starts)):
        raise Retry
    before[-1, starts] = CLIMBER
    after = before.copy()
    rocks = np.pad(
        before == ROCK, ((0, 0), (0, 1)), constant_values=True
    )  # the right side of the grid is closed
    bends = 0
    for column in starts:
        row = height - 1
        while row and not (rocks[row - 1, column] and rocks[row, column + 1]):
            if rocks[row - 1, column]:
                column += 1
                bends += 1
            else:
                row -= 1
            if after[row, column] == CLIMBER:
                raise Retry  # the ways stay apart
            after[row, column] = CLIMBER
    if not bends:
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    height, width = grid.shape
    for start in np.flatnonzero(grid[-1] == CLIMBER).tolist():
        row, column = height - 1, start
        while row > 0:
            if grid[row - 1, column] != ROCK:
                row -= 1
            elif column + 1 < width and grid[row, column + 1] != ROCK:
                column += 1
            else:
                break
            output[row, column] = CLIMBER
    return output
