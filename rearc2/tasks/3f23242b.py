"""Every green cell gets a house around it: a grey roof with a lamp down to it, red walls two cells away, and a red
ground line through the whole grid that is sky blue inside the house."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas

GREEN, RED, GREY, SKY = 3, 2, 5, 8
REACH = 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(1, 4)
    spare = rng.randint(2, 8)  # rows that belong to no house
    height, width = 5 * count + spare, rng.randint(9, 24)
    above = sorted(rng.randint(0, spare) for _ in range(count))
    before, after = canvas(height, width), canvas(height, width)
    for number, skipped in enumerate(above):
        row, column = 5 * number + skipped + REACH, rng.randint(REACH, width - 1 - REACH)
        before[row, column] = after[row, column] = GREEN
        after[row + REACH] = RED
        after[row + REACH, column - REACH : column + REACH + 1] = SKY
        for wall in (column - REACH, column + REACH):
            after[row - 1 : row + REACH, wall] = RED
        after[row - REACH, column - REACH : column + REACH + 1] = GREY
        after[row - 1, column] = GREY
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for row, column in np.argwhere(grid == GREEN).tolist():
        house = output[row - REACH : row + REACH + 1, column - REACH : column + REACH + 1]
        house[1:-1, 0] = house[1:-1, -1] = RED
        output[row + REACH] = RED
        house[-1] = SKY
        house[0] = house[1, REACH] = GREY
    return output
