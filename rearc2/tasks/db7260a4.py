"""The blue drop falls down: a closed compartment of a red vessel that catches it is filled to the brim, through a
hole in the floor it falls on; if nothing catches it, it floods the bottom row."""

from itertools import pairwise
from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas

DROP, VESSEL = 1, 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    before = canvas(10, 10)
    vessels = rng.choice([1, 2, 2])
    tops = [3] if vessels == 1 else [2, 6]
    column = drop = rng.randrange(1, 9) if rng.random() < 0.8 else rng.choice([0, 9])
    after = before.copy()
    caught = False
    holed = rng.uniform(0.2, 0.7)
    for top in tops:
        height = rng.randint(3, 4) if vessels == 1 else rng.randint(2, 3)
        left = rng.randint(0, 4)
        right = rng.randint(left + 3, 9)
        walls = [left, *(wall for wall in range(left + 2, right - 1) if rng.random() < 0.15), right]
        for grid in (before, after):
            grid[top : top + height, walls] = grid[top + height - 1, left : right + 1] = VESSEL
        landing = column
        for first, last in pairwise(walls):
            if last - first < 2:
                raise Retry
            hole = rng.randint(first + 1, last - 1) if rng.random() < holed else None
            if hole is not None:
                before[top + height - 1, hole] = after[top + height - 1, hole] = 0
            if first < column < last and not caught:
                if hole is None:
                    after[top : top + height - 1, first + 1 : last] = DROP
                    caught = True
                else:
                    landing = hole
        if column in walls and not caught:
            raise Retry
        column = landing
    before[0, drop] = DROP
    if not caught:
        after[-1] = DROP
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    bottom = len(grid) - 1
    row, column = np.argwhere(grid == DROP)[0].tolist()
    output[row, column] = 0
    while row < bottom:
        if grid[row + 1, column] != VESSEL:
            row += 1
            continue
        first = last = column
        while grid[row, first - 1] != VESSEL:
            first -= 1
        while grid[row, last + 1] != VESSEL:
            last += 1
        gaps = [c for c in range(first, last + 1) if grid[row + 1, c] != VESSEL]
        if gaps:
            column = gaps[0]
            row += 1
            continue
        while grid[row, first - 1] == VESSEL == grid[row, last + 1]:
            output[row, first : last + 1] = DROP
            row -= 1
        return output
    output[bottom] = DROP
    return output
