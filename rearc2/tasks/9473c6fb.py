"""The dots are recoloured red, sky blue, grey, red, ... in order: from top to bottom if no two of them share a row,
from left to right if no two share a column."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, objects

GROUND, CYCLE = 7, (2, 8, 5)


def generate(rng: Random) -> tuple[Grid, Grid]:
    length, width = rng.randint(5, 14), rng.randint(5, 14)
    before, after = canvas(length, width, GROUND), canvas(length, width, GROUND)
    count = rng.randint(max(4, length * 2 // 3), length)
    palette = colors(rng, rng.randint(3, 4), without=(GROUND, 5, 8))
    columns = []
    for number, row in enumerate(sorted(rng.sample(range(length), count))):
        columns.append(rng.randrange(width))
        before[row, columns[-1]] = rng.choice(palette)
        after[row, columns[-1]] = CYCLE[number % 3]
    apart = len(objects(before, GROUND, same_color=False)) == count
    # Dots that share neither rows nor columns could be read in both directions.
    if not apart or len(set(columns)) == count:
        raise Retry
    return (before, after) if rng.random() < 0.5 else (before.T, after.T)


def verify(grid: Grid) -> Grid:
    dots = np.argwhere(grid != GROUND)
    rows_distinct = len(set(dots[:, 0].tolist())) == len(dots)
    order = dots[:, 0] if rows_distinct else dots[:, 1]
    output = grid.copy()
    for number, (r, c) in enumerate(dots[np.argsort(order)]):
        output[r, c] = CYCLE[number % 3]
    return output
