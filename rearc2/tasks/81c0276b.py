"""The squares in the cells are counted by colour, without those of the colour of the lines. The answer is a chart: one
row for each colour, as long as its count, the shortest first."""

from collections import Counter
from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, fill, objects

CELL = 5  # with its line


def generate(rng: Random) -> tuple[Grid, Grid]:
    # The last cells may be cut off, but not their squares.
    height, width = (
        rng.choice([side for side in range(13, 28) if side % CELL in (1, 3, 4)]) for _ in range(2)
    )
    line, *palette = colors(rng, rng.randint(3, 6))
    places = [(top, left) for top in range(1, height - 1, CELL) for left in range(1, width - 1, CELL)]
    counts = sorted(rng.sample(range(1, len(palette) + 3), len(palette)))
    if sum(counts) >= len(places):
        raise Retry
    before = canvas(height, width)
    before[CELL - 1 :: CELL] = before[:, CELL - 1 :: CELL] = line
    after = canvas(len(palette), counts[-1])
    squares = []
    for row, (color, count) in enumerate(zip(palette, counts, strict=True)):
        after[row, :count] = color
        squares += [color] * count
    squares += [line] * (len(places) - len(squares))
    for (top, left), color in zip(rng.sample(places, len(places)), squares, strict=True):
        fill(before, top, left, 2, 2, color)
    return before, after


def verify(grid: Grid) -> Grid:
    line = grid[CELL - 1, 0]
    counts = Counter(thing.color for thing in objects(grid, diagonal=False) if thing.color != line)
    ordered = sorted(counts.items(), key=lambda item: item[1])
    output = np.zeros((len(ordered), ordered[-1][1]), np.int64)
    for row, (color, count) in enumerate(ordered):
        output[row, :count] = color
    return output
