"""A red line joins the two red cells; where it crosses a blue cell it is green."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, line, random_cells

BLUE, RED, GREEN = 1, 2, 3


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(8, 22)
    before = random_cells(rng, (side, side), [0] * rng.randint(3, 7) + [BLUE] * 4)
    down, right = rng.choice([(0, 1), (1, 0), (1, 1), (1, -1)])
    length = rng.choice([side - 1, rng.randint(side // 2, side - 1)])
    row = rng.randint(0, side - 1 - down * length)
    column = rng.randint(0, side - 1 - abs(right) * length) + (length if right < 0 else 0)
    end = row + down * length, column + right * length
    before[row, column] = before[end] = RED
    after = before.copy()
    line(after, (row, column), end, RED)
    after[(before == BLUE) & (after == RED)] = GREEN
    if not (after == GREEN).any():
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    start, end = np.argwhere(grid == RED)
    step = np.sign(end - start)
    place = start + step
    while (place != end).any():
        cell = tuple(place)
        output[cell] = GREEN if grid[cell] == BLUE else RED
        place = place + step
    return output
