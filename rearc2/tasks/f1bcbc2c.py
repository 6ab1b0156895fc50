"""Water runs into the pipe from the top. A maroon plug in a straight upright part is washed away; a plug in the
bend at the foot of an upright part holds and the water ends above it."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, grow

PIPE, PLUG, WATER = 7, 9, 8
SIDE = 10


def generate(rng: Random) -> tuple[Grid, Grid]:
    way, feet = _way(rng)
    inside = np.zeros((SIDE, SIDE), bool)
    for row, column in way:
        inside[row, column] = True
    before = np.where(grow(inside) & ~inside, PIPE, 0)
    after = before.copy()
    wet = len(way)
    kind = rng.choice(["no plug", "straight", "straight", "bend", "bend"])
    if kind == "bend":
        row, column = rng.choice(feet)
        before[row, column] = after[row, column] = PLUG
        wet = way.index((row, column))
    elif kind == "straight":
        straight = [
            way[k]
            for k in range(1, len(way) - 1)
            if way[k - 1][1] == way[k][1] == way[k + 1][1]  # upright before and behind
        ]
        if not straight:
            raise Retry
        before[rng.choice(straight)] = PLUG
    for row, column in way[:wet]:
        after[row, column] = WATER
    return before, after


def _way(rng: Random) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The cells inside the pipe from the top on, and the bends where it turns from upright to level."""
    row, column = 0, rng.randint(1, SIDE - 2)
    way, feet = [(row, column)], []
    for bend in range(rng.choice((1, 2, 2, 2))):
        for _ in range(rng.randint(3, 4) if bend else rng.randint(2, 5)):
            row += 1
            way.append((row, column))
        if row > SIDE - 2:
            raise Retry
        feet.append((row, column))
        step = rng.choice((-1, 1))
        length = rng.randint(2, 6)
        # The last level part may leave the grid at the side.
        leaves = bend == 1 and rng.random() < 0.3
        for _ in range(SIDE if leaves else length):
            column += step
            if not 0 <= column < SIDE:
                break
            way.append((row, column))
        if leaves:
            return way, feet
        if not 1 <= column <= SIDE - 2:
            raise Retry
    if row > SIDE - 3:
        raise Retry
    return way + [(r, column) for r in range(row + 1, SIDE)], feet


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    walls = np.flatnonzero(grid[0] == PIPE)
    row, column = 0, int(walls[0]) + 1  # the opening is between the two walls of the first row
    step = (1, 0)
    while True:
        if grid[row, column] == PLUG and (row + 1 >= SIDE or grid[row + 1, column] == PIPE):
            return output
        output[row, column] = WATER
        if not _open(output, row + step[0], column + step[1]):
            turns = [(1, 0)] if step[1] else [(0, -1), (0, 1)]
            turns = [turn for turn in turns if _open(output, row + turn[0], column + turn[1])]
            if not turns or row == SIDE - 1:
                return output
            step = turns[0]
        row, column = row + step[0], column + step[1]
        if not (0 <= row < SIDE and 0 <= column < SIDE):
            return output


def _open(grid: Grid, row: int, column: int) -> bool:
    """Whether water can go there; at the edge of the grid it flows out."""
    height, width = grid.shape
    return not (0 <= row < height and 0 <= column < width) or grid[row, column] not in (PIPE, WATER)
