"""Inside the grey frame the two other colours change places."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, colors, frame, holes, random_cells

FRAME = 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = 10 if rng.random() < 0.5 else rng.randint(8, 16)
    first, second = colors(rng, 2, without=(0, FRAME))
    before = random_cells(rng, (side, side), [first, second, *rng.choices([0, first, second], k=2)])
    if 0 not in before:
        raise Retry
    height, width = rng.randint(5, side - 2), rng.randint(5, side - 2)
    top, left = rng.randint(1, side - height - 1), rng.randint(1, side - width - 1)
    frame(before, top, left, height, width, FRAME)
    after = before.copy()
    inside = slice(top + 1, top + height - 1), slice(left + 1, left + width - 1)
    after[inside][before[inside] == first] = second
    after[inside][before[inside] == second] = first
    return before, after


def verify(grid: Grid) -> Grid:
    first, second = sorted(set(np.unique(grid).tolist()) - {0, FRAME})
    swapped = np.where(grid == first, second, np.where(grid == second, first, grid))
    return np.where(holes(grid == FRAME), swapped, grid)
