"""From the red cell in the bottom row a staircase climbs: up, right, up, right, to the right side. Where a blue cell is
above, it goes on to the right until it can go up."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas

SIDE, STAIR, BLOCK = 10, 2, 1


def generate(rng: Random) -> tuple[Grid, Grid]:
    before = canvas(SIDE, SIDE)
    row, column = SIDE - 1, min(rng.randint(0, 6), rng.randint(0, 6))
    before[row, column] = STAIR
    way = [(row, column)]
    blocked = rng.uniform(0, 0.5)
    climbs = 0
    while column < SIDE - 1:
        if row and (climbs == 0 or rng.random() >= blocked):
            row -= 1
            way.append((row, column))
            climbs += 1
        elif row:
            before[row - 1, column] = BLOCK
        else:
            raise Retry  # it must end at the right side, not at the top
        column += 1
        way.append((row, column))
    if not row:
        raise Retry
    way.append((row - 1, column))  # the last climb is at the right side
    after = before.copy()
    for place in way:
        after[place] = STAIR
    for _ in range(rng.choice([0, 1, 1, 2, 3])):
        place = rng.randrange(SIDE), rng.randrange(SIDE)
        if after[place] == 0:
            before[place] = after[place] = BLOCK  # not in its way
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    ((row, column),) = np.argwhere(grid == STAIR).tolist()
    while row > 0:
        if grid[row - 1, column] != BLOCK:
            row -= 1
            output[row, column] = STAIR
        column += 1
        if column == grid.shape[1]:
            break
        output[row, column] = STAIR
    return output
