"""Blue lines run through every blue dot along its row and column; the dot turns red and its four diagonal neighbours
green."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, paint

DOT, LINE, CROSSING, CORNER = 1, 1, 2, 3
SIGN = np.array([[CORNER, 0, CORNER], [0, CROSSING, 0], [CORNER, 0, CORNER]])


def generate(rng: Random) -> tuple[Grid, Grid]:
    ground = rng.choice([4, 5, 6, 7, 8, 9])
    count = rng.randint(2, 6)
    side = rng.randint(max(8, 2 * count + 1), 24)
    rows, columns = _spread(rng, side, count), _spread(rng, side, count)
    before, after = canvas(side, side, ground), canvas(side, side, ground)
    after[rows] = LINE
    after[:, columns] = LINE
    for row, column in zip(rows, columns, strict=True):
        before[row, column] = DOT
        paint(after, SIGN, row - 1, column - 1)
    return before, after


def _spread(rng: Random, side: int, count: int) -> list[int]:
    """Line numbers in random order, no two of them neighbours: no line runs over a green cell."""
    numbers = sorted(rng.sample(range(side - count + 1), count))
    return rng.sample([number + index for index, number in enumerate(numbers)], count)


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    dots = [(r, c) for r, row in enumerate(grid.tolist()) for c, color in enumerate(row) if color == DOT]
    for r, c in dots:
        output[r] = output[:, c] = LINE
    height, width = grid.shape
    for r, c in dots:
        output[r, c] = CROSSING
        for row in (r - 1, r + 1):
            for column in (c - 1, c + 1):
                if 0 <= row < height and 0 <= column < width:
                    output[row, column] = CORNER
    return output
