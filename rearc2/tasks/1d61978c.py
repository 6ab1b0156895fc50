"""Of the two directions of the grey diagonals, the one with more cells in all becomes sky blue, the other red."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, grow, line, objects

GROUND, LINE, MORE, FEWER = 7, 5, 8, 2
SIDE = 16


def generate(rng: Random) -> tuple[Grid, Grid]:
    before = canvas(SIDE, SIDE, GROUND)
    drawn = {
        1: np.zeros((SIDE, SIDE), bool),
        -1: np.zeros((SIDE, SIDE), bool),
    }  # by the column's step downwards
    longest = rng.randint(3, 13)
    for number in range(rng.randint(2, 20)):
        step = (1, -1)[number] if number < 2 else rng.choice((1, -1))
        length = rng.randint(2, longest)
        top = rng.randint(0, SIDE - length)
        left = rng.randint(0, SIDE - length) + (length - 1 if step < 0 else 0)
        stroke = canvas(SIDE, SIDE)
        line(stroke, (top, left), (top + length - 1, left + step * (length - 1)), 1)
        # Lines do not touch.
        if not np.any(grow(stroke > 0) & (before == LINE)):
            before[stroke > 0] = LINE
            drawn[step] |= stroke > 0
    fewer, more = sorted(drawn.values(), key=np.count_nonzero)
    if not fewer.any() or fewer.sum() == more.sum():
        raise Retry
    return before, np.where(fewer, FEWER, np.where(more, MORE, GROUND))


def verify(grid: Grid) -> Grid:
    lines = objects(grid, background=GROUND)
    falling = [thing for thing in lines if thing.mask[0, 0]]
    rising = [thing for thing in lines if not thing.mask[0, 0]]
    fewer = min(falling, rising, key=lambda things: sum(thing.size for thing in things))
    output = np.where(grid == LINE, MORE, GROUND)
    for thing in fewer:
        output[thing.slices][thing.mask] = FEWER
    return output
