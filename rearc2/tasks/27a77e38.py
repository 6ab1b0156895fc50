"""The most frequent colour above the grey line is put into the middle of the last row."""

from collections import Counter
from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, mostly, random_cells

GREY = 5
INKS = [1, 2, 3, 4, 6, 7, 8, 9]


def generate(rng: Random) -> tuple[Grid, Grid]:
    half = mostly(rng, 1, 4, 8)
    side = 2 * half + 1
    palette = rng.sample(INKS, rng.randint(min(5, 1 + half), 8))
    before = canvas(side, side)
    before[:half] = random_cells(rng, (half, side), palette)
    before[half] = GREY
    (winner, most), *others = Counter(before[:half].ravel().tolist()).most_common(2)
    if not others or others[0][1] == most:
        raise Retry
    after = before.copy()
    after[-1, half] = winner
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    half = len(grid) // 2
    inks, counts = np.unique(grid[:half], return_counts=True)
    output[-1, half] = inks[counts.argmax()]
    return output
