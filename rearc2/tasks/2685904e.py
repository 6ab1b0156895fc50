"""The sky blue cells at the top give a number. Each colour that occurs so many times in the row below stands on the
grey line, over its places, in bars of that height."""

from collections import Counter
from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors

SIDE, LINE, ROW = 10, 6, 8  # rows of the grey line and of the colours
GREY, COUNTER = 5, 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    number = rng.randint(1, 5)
    counts = [number]
    while sum(counts) < SIDE:
        counts.append(rng.randint(1, SIDE - sum(counts)))
    if len(set(counts)) < 2 or len(counts) > 8:
        raise Retry
    palette = colors(rng, len(counts), without=(0, GREY))
    cells = [color for color, count in zip(palette, counts, strict=True) for _ in range(count)]
    rng.shuffle(cells)
    before = canvas(SIDE, SIDE)
    before[0, :number] = COUNTER
    before[LINE] = GREY
    before[ROW] = cells
    after = before.copy()
    standing = [color for color, count in zip(palette, counts, strict=True) if count == number]
    after[LINE - number : LINE] = np.where(np.isin(cells, standing), cells, 0)
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    number = int((grid[0] == COUNTER).sum())
    occurrences = Counter(grid[ROW].tolist())
    for column, color in enumerate(grid[ROW].tolist()):
        if occurrences[color] == number:
            output[LINE - number : LINE, column] = color
    return output
