"""The figure in two colours is mirrored on the blue line; the original then swaps its two colours."""

from random import Random

import numpy as np

from rearc2.helpers import SIDES, Grid, Retry, canvas, colors, paint, random_cells, random_shape, undo_to_top

LINE = 1


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(3, 6), rng.randint(3, 6)  # of the figure, here above the line
    inks = colors(rng, 2, without=(0, LINE))
    shape = random_shape(rng, height, width, rng.uniform(0.5, 0.75), diagonal=True)
    if rng.random() < 0.3:
        figure = np.where(random_cells(rng, (height, 1), [0, 1]) == 1, *inks) * shape  # row by row
    else:
        figure = random_cells(rng, (height, width), [*inks, *inks[:1] * rng.randint(0, 3)]) * shape
    if not np.isin(inks, figure).all():
        raise Retry
    distance = rng.randint(1, 3)
    rows = height + distance + rng.randint(0, 4)  # on both sides of the line, or more on one of them
    columns = width + rng.randint(2, 8)
    before = canvas(2 * rows + 1 + rng.randint(0, 2), columns)
    line = rows if rng.random() < 0.5 else len(before) - 1 - rows
    before[line] = LINE
    left = rng.randint(0, columns - width)
    after = before.copy()
    paint(before, figure, line - distance - height + 1, left)
    swapped = np.where(shape, sum(inks) - figure, 0)
    paint(after, swapped, line - distance - height + 1, left)
    paint(after, figure[::-1], line + distance, left)
    side = rng.choice(SIDES)
    return undo_to_top(before, side), undo_to_top(after, side)


def verify(grid: Grid) -> Grid:
    if (grid[0] == LINE).any():  # an upright line
        return verify(grid.T).T
    (line,) = np.flatnonzero((grid == LINE).all(axis=1))
    first, second = sorted(set(grid.ravel().tolist()) - {0, LINE})
    output = grid.copy()
    output[grid == first], output[grid == second] = second, first
    for row, column in np.argwhere((grid != 0) & (grid != LINE)):
        output[2 * line - row, column] = grid[row, column]
    return output
