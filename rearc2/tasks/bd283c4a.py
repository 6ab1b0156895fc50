"""The cells are sorted by colour, the most common colour first: column by column from the left, each column filled from
the bottom up."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors

SIDE = 10


def generate(rng: Random) -> tuple[Grid, Grid]:
    palette = colors(rng, 4)
    weights = [rng.randint(40, 60), rng.randint(20, 35), rng.randint(10, 20), rng.randint(3, 10)]
    before = canvas(SIDE, SIDE)
    for column in range(SIDE):
        for row in range(SIDE):
            # Runs down the columns, as in brushwork.
            if row and rng.random() < 0.4:
                before[row, column] = before[row - 1, column]
            else:
                before[row, column] = rng.choices(palette, weights)[0]
    counts = [int((before == color).sum()) for color in palette]
    if len(set(counts)) < 4 or 0 in counts:
        raise Retry
    after = canvas(SIDE, SIDE)
    rank = 0
    for count, color in sorted(zip(counts, palette, strict=True), reverse=True):
        for _ in range(count):
            after[SIDE - 1 - rank % SIDE, rank // SIDE] = color
            rank += 1
    return before, after


def verify(grid: Grid) -> Grid:
    counts = np.bincount(grid.ravel(), minlength=10)
    order = np.argsort(-counts, kind="stable")
    cells = np.repeat(order, counts[order])
    return cells.reshape(grid.shape[::-1]).T[::-1]
