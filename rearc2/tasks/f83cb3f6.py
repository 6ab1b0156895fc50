"""The dots fall onto the sky blue line from both sides and stay on it, one on a cell and side; those that find no
line cell in their row or column disappear."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors

LINE = 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    # Drawn with a level line and turned at the end.
    height, width = rng.randint(9, 20), rng.randint(8, 20)
    (color,) = colors(rng, 1, without=(0, LINE))
    row = rng.randint(3, height - 4)
    line = np.ones(width, bool)
    kind = rng.choice(["whole", "short", "gaps", "gaps"])
    if kind != "whole":
        end = rng.randint(1, 3)
        line[-end:] = False
    if kind == "gaps":
        line[-1] = rng.random() < 0.5
        start = rng.randint(2, width - 4)
        line[start : start + rng.randint(1, 2)] = False
    if rng.random() < 0.5:
        line = line[::-1]
    before, after = canvas(height, width), canvas(height, width)
    before[row, line] = after[row, line] = LINE
    for cell in rng.sample(range(height * width), rng.randint(9, 9 + height * width // 14)):
        r, c = divmod(cell, width)
        if r == row:
            continue
        before[r, c] = color
        if line[c]:
            after[row - 1 if r < row else row + 1, c] = color
    if not (after[row - 1].any() and after[row + 1].any()):
        raise Retry
    return (before, after) if rng.random() < 0.5 else (before.T, after.T)


def verify(grid: Grid) -> Grid:
    rows = np.flatnonzero((grid == LINE).any(axis=1))
    if len(rows) > 1:
        return verify(grid.T).T
    (row,) = rows
    on_line = grid[row] == LINE
    output = np.where(grid == LINE, LINE, 0)
    output[row - 1] = np.where(on_line, grid[:row].max(axis=0), 0)
    output[row + 1] = np.where(on_line, grid[row + 1 :].max(axis=0), 0)
    return output
