"""Below a row of orange cells stand further rows, every second row: a cell wherever two cells of the row above lie on
both sides of one gap. They are pink, then orange, and so on until no such gap is left."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas

BACKGROUND, ORANGE, PINK = 3, 7, 6


def generate(rng: Random) -> tuple[Grid, Grid]:
    width = rng.randint(8, 28)
    margin = rng.choice([0, 0, 1, 2, 3])
    # Mostly single gaps between single cells, with breaks: two to five cells side by side.
    columns, column = [], margin
    calm = rng.uniform(0.45, 1.0)
    while column < width - margin:
        columns.append(column)
        column += 2 if rng.random() < calm else 1
    row = rng.randint(1, 4)
    rows = [set(columns)]
    while rows[-1]:
        above = rows[-1]
        rows.append({c + 1 for c in above if c + 2 in above and c + 1 not in above})
    rows.pop()
    height = row + 2 * len(rows) + rng.randint(0, 6)
    if len(rows) < 2 or height > 30 or height < 8:
        raise Retry
    before = canvas(height, width, BACKGROUND)
    before[row, columns] = ORANGE
    after = before.copy()
    for number, cells in enumerate(rows):
        after[row + 2 * number, sorted(cells)] = ORANGE if number % 2 == 0 else PINK
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    (row,) = np.flatnonzero((grid == ORANGE).any(axis=1))
    filled = grid[row] == ORANGE
    color = ORANGE
    while filled.any() and row < len(grid):  # the grid may cut the pyramid off
        output[row, filled] = color
        gaps = np.zeros_like(filled)
        gaps[1:-1] = filled[:-2] & filled[2:] & ~filled[1:-1]
        row, filled, color = row + 2, gaps, PINK if color == ORANGE else ORANGE
    return output
