"""Every dot sends its colour along its whole row and column; where the lines of two dots cross, the cell is red."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors

RED = 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(10, 20)
    count = rng.randint(2, 4)
    rows, columns = rng.sample(range(side), count), rng.sample(range(side), count)
    # Lines side by side would hide which dot they come from.
    if any(np.diff(sorted(lines)).min() < 2 for lines in (rows, columns)):
        raise Retry
    before, after = canvas(side, side), canvas(side, side)
    palette = colors(rng, count, without=(0, RED))
    for row, column, color in zip(rows, columns, palette, strict=True):
        before[row, column] = color
        after[row, :] = after[:, column] = color
    for row, own in zip(rows, columns, strict=True):
        for column in columns:
            if column != own:
                after[row, column] = RED
    return before, after


def verify(grid: Grid) -> Grid:
    # There is one dot in its row and column, so that the sum over the line is the dot's colour.
    across, down = np.broadcast_arrays(grid.sum(axis=1, keepdims=True), grid.sum(axis=0, keepdims=True))
    crossing = (across > 0) & (down > 0) & (grid == 0)
    return np.where(crossing, RED, np.maximum(across, down))
