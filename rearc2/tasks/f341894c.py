"""Every pink and blue pair lies in line with an orange dot on the border. It is turned so that its pink cell is on
the dot's side."""

from itertools import pairwise
from random import Random

import numpy as np

from rearc2.helpers import SIDES, Grid, Retry, canvas, to_top

BACKGROUND, DOT, NEAR, FAR = 8, 7, 6, 1


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(8, 20)
    before, after = canvas(side, side, BACKGROUND), canvas(side, side, BACKGROUND)
    lines: list[tuple[str, int]] = []
    count = rng.randint(side // 2, side)
    for _ in range(4 * side):
        if len(lines) == count:
            break
        border, number = rng.choice(SIDES), rng.randrange(side)
        old, new = to_top(before, border), to_top(after, border)  # views: drawing on them draws on the grids
        depth = rng.randint(1, side - 2)
        column = old[:, number]
        if (column == DOT).any() or (old[depth : depth + 2, number] != BACKGROUND).any():
            continue
        if old[0, number] != BACKGROUND or np.isin(column, (NEAR, FAR)).sum() > 1:
            continue
        old[0, number] = new[0, number] = DOT
        new[depth : depth + 2, number] = NEAR, FAR
        old[depth : depth + 2, number] = rng.choice([(NEAR, FAR), (FAR, NEAR)])
        lines.append((border, number))
    for border, number in lines:
        column = to_top(before, border)[:, number]
        pairs = sum({a, b} == {NEAR, FAR} for a, b in pairwise(column.tolist()))
        if (column == DOT).sum() > 1 or pairs != 1:
            raise Retry  # pairs that lie side by side must not look like other pairs
        crossing = to_top(before, border)[0]
        if number in (0, side - 1) and np.isin(crossing, (NEAR, FAR)).any():
            raise Retry  # a dot in a corner belongs to one line only
    if len(lines) < side // 2:
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for border in SIDES:
        old, new = to_top(grid, border), to_top(output, border)
        for column in np.flatnonzero(old[0] == DOT):
            for row in range(1, len(old) - 1):
                if {int(old[row, column]), int(old[row + 1, column])} == {NEAR, FAR}:
                    new[row : row + 2, column] = NEAR, FAR
    return output
