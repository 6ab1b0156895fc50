"""The grid is put twice on the diagonal of one twice as large, and between the two cells of every pair that stand one
above the other a green line runs right across."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, mostly

LINE = 3


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = mostly(rng, 3, 6, 15)
    (color,) = colors(rng, 1, without=(0, LINE))
    rows: list[int] = []
    row = rng.choice([0, 0, rng.randint(0, side - 3)])
    count = rng.choice([1, 2, 3, 4, 4])
    while row + 3 <= side and len(rows) < count:
        rows.append(row)
        row += rng.choice([3, 3, 5, 6])  # 4 would leave an empty row between the cells of two pairs
    before = canvas(side, side)
    for row in rows:
        before[[row, row + 2], rng.randrange(side)] = color
    if (rows[0] == 0 and rows[-1] + 3 == side - 1) or (rows[0] == 1 and rows[-1] + 3 == side):
        raise Retry  # the same between the two copies
    after = canvas(2 * side, 2 * side)
    for corner in (0, side):
        after[corner : corner + side, corner : corner + side] = before
        for row in rows:
            after[corner + row + 1] = LINE
    return before, after


def verify(grid: Grid) -> Grid:
    blank = np.zeros_like(grid)
    output = np.block([[grid, blank], [blank, grid]])
    for row in range(1, len(output) - 1):
        if not output[row].any() and ((output[row - 1] == output[row + 1]) & (output[row - 1] > 0)).any():
            output[row] = LINE
    return output
