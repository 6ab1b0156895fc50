"""In a regular field of framed tiles some cores have special colours. Cores of one special colour that face each other
along a row or column of tiles are joined by stripes as wide as a core, drawn in the gaps between the tiles."""

from itertools import pairwise
from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, fill


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(20, 30), rng.randint(22, 30)
    core, gap = rng.randint(1, 3), rng.randint(1, 3)
    pitch = core + 2 + gap
    frame_color, common, *special = colors(rng, 4)
    # Tiles whose whole core is visible: only these may be corners.
    rows = list(range(2, height - core + 1, pitch))
    columns = list(range(2, width - core + 1, pitch))
    count = rng.randint(1, 2)
    # The common cores must outnumber those of each special colour.
    if min(len(rows), len(columns)) < 2 * count or len(rows) * len(columns) < 4 * count + 5:
        raise Retry
    row_numbers, column_numbers = (
        rng.sample(range(len(rows)), 2 * count),
        rng.sample(range(len(columns)), 2 * count),
    )
    before = canvas(height, width)
    for top in range(2, height + 1, pitch):
        for left in range(2, width + 1, pitch):
            fill(before, top - 1, left - 1, core + 2, core + 2, frame_color)
            fill(before, top, left, core, core, common)
    for number in range(count):
        for row in row_numbers[2 * number : 2 * number + 2]:
            for column in column_numbers[2 * number : 2 * number + 2]:
                fill(before, rows[row], columns[column], core, core, special[number])
    after = before.copy()
    for number in range(count):
        first_row, last_row = sorted(row_numbers[2 * number : 2 * number + 2])
        first_column, last_column = sorted(column_numbers[2 * number : 2 * number + 2])
        for row in range(first_row, last_row):
            for column in (first_column, last_column):
                fill(after, rows[row] + core + 1, columns[column], gap, core, special[number])
        for column in range(first_column, last_column):
            for row in (first_row, last_row):
                fill(after, rows[row], columns[column] + core + 1, core, gap, special[number])
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    counts = np.bincount(grid.ravel(), minlength=10)
    counts[0] = 0
    # The frames take most cells, then the common cores; every other colour is special.
    special = [int(color) for color in np.argsort(-counts, kind="stable")[2:] if counts[color]]
    for before, after in ((grid, output), (grid.T, output.T)):
        for color in special:
            for line, drawn in zip(before, after, strict=True):
                for start, end in pairwise(np.flatnonzero(line == color).tolist()):
                    stripe = drawn[start:end]
                    stripe[line[start:end] == 0] = color
    return output
