"""The four corner squares have the same four colours, in any order; in each the one that is missing (orange) is put
in."""

from collections import Counter
from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors

HOLE = 7


def generate(rng: Random) -> tuple[Grid, Grid]:
    used = colors(rng, 4, without=(HOLE,))
    if rng.random() < 0.3:
        used[3] = used[0]
    before, after = canvas(5, 5, HOLE), canvas(5, 5, HOLE)
    missing = set()
    for top in (0, 3):
        for left in (0, 3):
            after[top : top + 2, left : left + 2] = np.reshape(rng.sample(used, 4), (2, 2))
            before[top : top + 2, left : left + 2] = after[top : top + 2, left : left + 2]
            hole = top + rng.randint(0, 1), left + rng.randint(0, 1)
            missing.add(int(after[hole]))
            before[hole] = HOLE
    if len(missing) == 1:
        raise Retry  # a colour that is missing everywhere cannot be known
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    squares = [output[top : top + 2, left : left + 2] for top in (0, 3) for left in (0, 3)]
    counts = [Counter(square[square != HOLE].tolist()) for square in squares]
    full = counts[0] | counts[1] | counts[2] | counts[3]
    for square, count in zip(squares, counts, strict=True):
        square[square == HOLE] = list((full - count).elements())
    return output
