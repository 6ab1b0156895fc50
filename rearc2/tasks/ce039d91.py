"""Grey cells whose left-right mirror cell is grey too become blue."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas

GREY, BLUE = 5, 1


def generate(rng: Random) -> tuple[Grid, Grid]:
    before, after = canvas(10, 10), canvas(10, 10)
    blank = rng.uniform(0.1, 0.5)
    central = rng.choice([1.0, 2.0, 3.0])  # how much likelier cells near the axis are
    for row in range(10):
        if rng.random() < blank:
            continue
        weights = [central, central, 1.0, 1.0, 1.0]
        for distance in rng.choices(range(5), weights, k=rng.choice([1, 1, 1, 2, 2, 3])):
            left, right = 4 - distance, 5 + distance
            color = BLUE if rng.random() < 0.6 else GREY
            columns = [left, right] if color == BLUE else [rng.choice([left, right])]
            if before[row, left] or before[row, right]:
                continue  # drawn already
            for column in columns:
                before[row, column], after[row, column] = GREY, color
    if not {GREY, BLUE} <= set(after.ravel().tolist()):
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    return np.where((grid == GREY) & (np.fliplr(grid) == GREY), BLUE, grid)
