"""Every bar makes a quarter turn about its middle cell."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, grow, objects

BACKGROUND = 7


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(9, 20)
    (color,) = colors(rng, 1, without=(0, BACKGROUND))
    before, after = canvas(side, side, BACKGROUND), canvas(side, side, BACKGROUND)
    bars = 0
    for _ in range(rng.randint(side, 4 * side)):
        reach = min(rng.randint(0, side // 2 - 2), rng.randint(0, side // 2 - 2), 4)
        row, column = rng.randint(reach, side - 1 - reach), rng.randint(reach, side - 1 - reach)
        lying = canvas(side, side).astype(bool)
        standing = lying.copy()
        lying[row, column - reach : column + reach + 1] = True
        standing[row - reach : row + reach + 1, column] = True
        old, new = (lying, standing) if rng.random() < 0.5 else (standing, lying)
        # Bars that meet over an edge could not be told apart before the turn; after it they may meet.
        if (before[grow(old, diagonal=False)] == color).any() or (after[new] == color).any():
            continue
        before[old], after[new] = color, color
        bars += 1
    if bars < side // 2:
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = np.full_like(grid, BACKGROUND)
    for bar in objects(grid, BACKGROUND, diagonal=False):
        row, column = (bar.top + bar.bottom) // 2, (bar.left + bar.right) // 2
        for r, c in bar.cells:
            output[row + (c - column), column + (r - row)] = bar.color
    return output
