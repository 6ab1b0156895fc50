"""The two most common colours stay; all others become orange."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, colors, random_cells

ORANGE = 7


def generate(rng: Random) -> tuple[Grid, Grid]:
    shape = rng.choice([4, 4, 5, 6, 7, 8, 9]), rng.choice([4, 4, 5, 6, 7, 8, 9])
    palette = colors(rng, 5, without=(ORANGE,))
    # The first two are likelier, but only a clear second place will do.
    before = random_cells(rng, shape, palette + palette[:2] * rng.randint(1, 2))
    counts = {color: int((before == color).sum()) for color in palette}
    if min(counts[color] for color in palette[:2]) <= max(counts[color] for color in palette[2:]):
        raise Retry
    if 0 in counts.values():
        raise Retry
    return before, np.where(np.isin(before, palette[:2]), before, ORANGE)


def verify(grid: Grid) -> Grid:
    order = np.argsort(-np.bincount(grid.ravel(), minlength=10), kind="stable")
    output = grid.copy()
    for color in order[2:]:
        output[grid == color] = ORANGE
    return output
