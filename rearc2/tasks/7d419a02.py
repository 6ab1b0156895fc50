"""Lanes two cells wide lie side by side, and a pink 2x2 block marks a place in one of them. In the lanes beside it
the cells within a cone stay, as wide as the mark in the next lane and two cells wider on both sides for every further
one; the rest of these lanes becomes yellow."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, scatter, splits

LANE, MARK, FAR = 8, 6, 4


def generate(rng: Random) -> tuple[Grid, Grid]:
    lanes, length = rng.randint(4, 9), rng.randint(8, 26)
    own, start = rng.randrange(lanes), rng.randint(0, length - 2)
    before = canvas(3 * lanes + 1, length + 2)
    after = before.copy()
    holes = scatter(rng, before.shape, rng.uniform(0.04, 0.12))
    for lane in range(lanes):
        rows = slice(3 * lane + 1, 3 * lane + 3)
        before[rows, 1:-1] = LANE
        after[rows, 1:-1] = LANE
        if lane != own:
            reach = 2 * abs(lane - own) - 2
            after[rows, 1 : max(1, 1 + start - reach)] = FAR
            after[rows, min(length + 1, start + 3 + reach) : -1] = FAR
    for grid in (before, after):
        grid[holes] = 0
        grid[3 * own + 1 : 3 * own + 3, start + 1 : start + 3] = MARK
    return (before, after) if rng.random() < 0.5 else (before.T, after.T)


def verify(grid: Grid) -> Grid:
    rows, columns = splits(grid, 0)
    lengthwise = grid if len(rows) > len(columns) else grid.T
    (top, left), (_, right) = np.argwhere(lengthwise == MARK)[[0, -1]].tolist()
    output = lengthwise.copy()
    for row, column in np.argwhere(lengthwise == LANE).tolist():
        lane = abs((row - 1) // 3 - (top - 1) // 3)
        distance = max(left - column, column - right)
        if lane and distance > 2 * (lane - 1):
            output[row, column] = FAR
    return output if lengthwise is grid else output.T
