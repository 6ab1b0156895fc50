"""The two lines are mirrors: the cells of the quadrant that is not empty are mirrored into the other three, as far as
the grid goes."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, scatter, splits

ORANGE = 7


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(7, 20), rng.randint(7, 20)
    row, column = rng.randint(3, height - 4), rng.randint(3, width - 4)
    line, *palette = colors(rng, rng.randint(4, 9), without=(ORANGE,))
    before, after = canvas(height, width, ORANGE), canvas(height, width, ORANGE)
    # The full pattern by distance from the lines; the other quadrants show what fits into them.
    down, right = rng.choice([-1, 1]), rng.choice([-1, 1])
    reach = (row if down < 0 else height - 1 - row), (column if right < 0 else width - 1 - column)
    for r, c in np.argwhere(scatter(rng, reach, rng.uniform(0.15, 0.4))).tolist():
        color = rng.choice(palette)
        before[row + down * (r + 1), column + right * (c + 1)] = color
        for target_row in (row - r - 1, row + r + 1):
            for target_column in (column - c - 1, column + c + 1):
                if 0 <= target_row < height and 0 <= target_column < width:
                    after[target_row, target_column] = color
    if (before != ORANGE).sum() < 4:
        raise Retry
    for grid in (before, after):
        grid[row] = grid[:, column] = line
    return before, after


def verify(grid: Grid) -> Grid:
    rows, columns = splits(grid)
    (row,) = [row for row in rows if grid[row, 0] != ORANGE]
    (column,) = [column for column in columns if grid[0, column] != ORANGE]
    output = grid.copy()
    for r, c in np.argwhere(grid != ORANGE).tolist():
        if r == row or c == column:
            continue
        for place in ((2 * row - r, c), (r, 2 * column - c), (2 * row - r, 2 * column - c)):
            if 0 <= place[0] < grid.shape[0] and 0 <= place[1] < grid.shape[1]:
                output[place] = grid[r, c]
    return output
