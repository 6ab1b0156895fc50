"""Only rows with a pink cell count. There a sky blue bar remains: the pink cell, extended to the left by the number of
coloured cells on its left, and likewise to the right."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, random_cells

SIDE, GROUND, PINK, SKY = 10, 7, 6, 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    inks = rng.sample([0, 1, 2, 3, 4, 5, 8, 9], rng.randint(3, 8))
    share = rng.uniform(0.1, 0.6)  # of coloured cells
    ground = [GROUND] * round(len(inks) * (1 - share) / share)
    before = random_cells(rng, (SIDE, SIDE), [*inks, *ground])
    after = canvas(SIDE, SIDE, GROUND)
    for row in rng.sample(range(SIDE), rng.randint(2, 7)):
        column = rng.randrange(SIDE)
        before[row, column] = PINK
        left, right = (before[row, :column] != GROUND).sum(), (before[row, column + 1 :] != GROUND).sum()
        after[row, column - left : column + right + 1] = SKY
    if 2 * (after == SKY).sum() >= after.size:
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = np.full_like(grid, GROUND)
    for old, new in zip(grid, output, strict=True):
        coloured = np.flatnonzero(old != GROUND).tolist()
        for pink in np.flatnonzero(old == PINK).tolist():
            number = coloured.index(pink)  # so many lie on its left
            new[pink - number : pink + len(coloured) - number] = SKY
    return output
