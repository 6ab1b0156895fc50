"""The square sends out red diagonals from its corners and yellow stairs from its sides: two cells straight on, two
to the right of the way, and so on. All end at a grey cell or at the edge, a diagonal also between two grey cells
that touch at their corners."""

from itertools import cycle, pairwise
from random import Random

import numpy as np

from rearc2.helpers import Grid, box, canvas, fill, scatter

GREY, SQUARE, DIAGONAL, STAIRS = 5, 8, 2, 4


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(14, 26), rng.randint(14, 26)
    before = np.where(scatter(rng, (height, width), rng.uniform(0.06, 0.12)), GREY, canvas(height, width))
    r, c = rng.randint(4, height - 5), rng.randint(4, width - 5)
    fill(before, r - 1, c - 1, 3, 3, SQUARE)
    after = before.copy()
    # From the square's edge cell on; steps are counted from its middle, ahead and to the right of the way.
    for down, right in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
        _follow(before, after, DIAGONAL, [(r + down * k, c + right * k) for k in range(1, 27)])
    stairs = [(1, 0)]
    for k in range(0, 26, 2):
        stairs += [(k + 2, k), (k + 3, k), (k + 3, k + 1), (k + 3, k + 2)]
    for down, right in ((-1, 0), (0, 1), (1, 0), (0, -1)):
        # A quarter turn to the right of (down, right) is (right, -down).
        way = [
            (r + ahead * down + aside * right, c + ahead * right - aside * down) for ahead, aside in stairs
        ]
        _follow(before, after, STAIRS, way)
    return before, after


def _follow(before: Grid, after: Grid, color: int, way: list[tuple[int, int]]) -> None:
    """Draws the way, but for its first cell, as far as it is free."""
    for (last_row, last_column), (row, column) in pairwise(way):
        if not (0 <= row < len(before) and 0 <= column < before.shape[1]) or before[row, column] == GREY:
            return
        if before[last_row, column] == before[row, last_column] == GREY:
            return
        after[row, column] = color


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    free = np.pad(grid != GREY, 1)  # the edge stops a way as a grey cell does
    top, left, _, _ = box(grid == SQUARE)
    for r in range(3):
        for c in range(3):
            row, column = top + r, left + c
            down, right = r - 1, c - 1
            if down and right:
                while free[row + down + 1, column + right + 1] and (
                    free[row + down + 1, column + 1] or free[row + 1, column + right + 1]
                ):
                    row, column = row + down, column + right
                    output[row, column] = DIAGONAL
            elif down or right:
                turns = cycle([(down, right)] * 2 + [(right, -down)] * 2)
                for step_down, step_right in turns:
                    row, column = row + step_down, column + step_right
                    if not free[row + 1, column + 1]:
                        break
                    output[row, column] = STAIRS
    return output
