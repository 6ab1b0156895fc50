"""The grey column tells how many rows to repeat: the first rows of the pattern beside it, as many as it has cells, fill
all rows below the pattern, again and again."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors

GREY = 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    width = rng.randint(5, 8)
    count = rng.randint(1, 5)
    height = count + rng.randint(1, 3)  # of the pattern: some rows are not repeated
    times = rng.randint(1, min(5, 14 // count))
    palette = colors(rng, rng.randint(3, 6), without=(0, GREY))
    band = rng.randint(1, 2), rng.randint(3, 4)  # the columns that the pattern is in
    before = canvas(height + count * times, width)
    for row in range(height):
        left = rng.randint(*band)
        right = rng.randint(left, band[1])
        color = rng.choice(palette)
        before[row, left : right + 1] = color
        if rng.random() < 0.3:
            before[row, right] = rng.choice(palette)
    if np.array_equal(before[0], before[count]):
        raise Retry  # it would hardly show that this row is not repeated
    after = before.copy()
    after[height:] = np.vstack([before[:count]] * times)
    before[:count, 0] = after[:count, 0] = GREY
    return before, after


def verify(grid: Grid) -> Grid:
    count = int((grid[:, 0] == GREY).sum())
    first_empty = int(np.flatnonzero(~grid.any(axis=1))[0])
    output = grid.copy()
    for row in range(first_empty, len(grid)):
        output[row, 1:] = grid[(row - first_empty) % count, 1:]
    return output
