"""Red rings that face each other in a row or a column, tip to tip, are joined by a blue line."""

from itertools import combinations
from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, objects, paint, place

RED, BLUE = 2, 1
RING = np.array([[False, True, False], [True, False, True], [False, True, False]])


def generate(rng: Random) -> tuple[Grid, Grid]:
    shape = rng.randint(9, 20), rng.randint(9, 20)
    before = canvas(*shape)
    centres: list[tuple[int, int]] = []
    for _ in range(rng.randint(3, 4 + shape[0] * shape[1] // 50)):
        if centres and rng.random() < 0.7:  # in line with one or two that are there
            spot = rng.choice(centres)[0], rng.randint(1, shape[1] - 2)
            if rng.random() < 0.5:
                spot = rng.randint(1, shape[0] - 2), rng.choice(centres)[1]
        else:
            ((top, left),) = place(rng, shape, [(3, 3)], taken=before == RED)
            spot = top + 1, left + 1
        gaps = [(abs(spot[0] - row), abs(spot[1] - column)) for row, column in centres]
        if all(max(gap) > 3 or sum(gap) > 4 for gap in gaps):  # no ring touches another, not even at a corner
            centres.append(spot)
            paint(before, RING, spot[0] - 1, spot[1] - 1, RED)
    after = before.copy()
    for (row, column), (other_row, other_column) in combinations(sorted(centres), 2):
        if row == other_row:
            between = after[row, column + 2 : other_column - 1]
        elif column == other_column:
            between = after[row + 2 : other_row - 1, column]
        else:
            continue
        if RED not in between:
            between[:] = BLUE
        elif not any(
            row <= r <= other_row and column <= c <= other_column and (r, c) != (row, column)
            for r, c in centres
            if (r, c) != (other_row, other_column)
        ):
            raise Retry  # the line would touch a ring that does not belong to it
    if len(centres) < 3 or not (after == BLUE).any():
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    middles = [(ring.top + 1, ring.left + 1) for ring in objects(grid)]
    for row, column in middles:
        beside = [c for r, c in middles if r == row and c > column]
        below = [r for r, c in middles if c == column and r > row]
        if beside:
            output[row, column + 2 : min(beside) - 1] = BLUE
        if below:
            output[row + 2 : min(below) - 1, column] = BLUE
    return output
