"""Some rows hold a blue cell and, further right, a sky blue one. What lies between the two, always equally long, is
stacked in the order of the rows."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, random_cells

START, INK, END = 1, 2, 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(4, 16), rng.randint(8, 16)
    length = rng.randint(3, min(8, width - 3))
    before = random_cells(rng, (height, width), (0, INK))
    rows = sorted(rng.sample(range(height), rng.randint(1, min(height - 1, 8))))
    after = []
    for row in rows:
        start = rng.randint(0, width - length - 2)
        before[row, start], before[row, start + length + 1] = START, END
        after.append(before[row, start + 1 : start + 1 + length])
    if len(np.unique(after)) < 2:
        raise Retry
    return before, np.array(after)


def verify(grid: Grid) -> Grid:
    cut = []
    for row in grid.tolist():
        if START in row:
            cut.append(row[row.index(START) + 1 : row.index(END)])
    return np.array(cut)
