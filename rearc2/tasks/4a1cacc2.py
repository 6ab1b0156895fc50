"""The rectangle between the dot and the nearest corner of the grid is filled with the dot's colour."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, fill

BACKGROUND = 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(3, 16), rng.randint(3, 16)
    # Size of the rectangle: less than half each way, so that one corner is nearest; more than the dot alone.
    tall, wide = rng.randint(1, height // 2), rng.randint(1, width // 2)
    if tall == wide == 1:
        raise Retry
    (color,) = colors(rng, 1, without=(BACKGROUND,))
    before, after = canvas(height, width, BACKGROUND), canvas(height, width, BACKGROUND)
    before[tall - 1, wide - 1] = color
    fill(after, 0, 0, tall, wide, color)
    down, right = rng.choice((-1, 1)), rng.choice((-1, 1))
    return before[::down, ::right], after[::down, ::right]


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    height, width = grid.shape
    row, column = divmod(int((grid != BACKGROUND).argmax()), width)
    corners = [(r, c) for r in (0, height - 1) for c in (0, width - 1)]
    corner_row, corner_column = min(
        corners, key=lambda corner: abs(corner[0] - row) + abs(corner[1] - column)
    )
    rows, columns = sorted((row, corner_row)), sorted((column, corner_column))
    output[np.ix_(range(rows[0], rows[1] + 1), range(columns[0], columns[1] + 1))] = grid[row, column]
    return output
