"""A field of equal tiles, some with one of their four inner cells in another colour. Where two tiles of a row or column
have the same odd colour in the same inner cell, all tiles between them get it too."""

from itertools import combinations
from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, frame, most_common

PERIOD = 5  # a tile is a ring of 4x4 cells around 2x2 inner ones; tiles have one black cell between them


def generate(rng: Random) -> tuple[Grid, Grid]:
    rows, columns = rng.randint(3, 5), rng.randint(3, 5)
    ring, main, *odd = colors(rng, rng.randint(4, 7))
    # One inner cell may have the ring's colour.
    base = [main] * 4
    if rng.random() < 0.75:
        base[rng.randrange(4)] = ring
    marks: dict[tuple[int, int, int], int] = {}  # (inner cell, row, column) -> colour
    for _ in range(rng.randint(2, 2 + rows * columns // 3)):
        cell, row, column = rng.randrange(4), rng.randrange(rows), rng.randrange(columns)
        color = rng.choice(odd)
        marks[cell, row, column] = color
        # Its partner at the other end, two or more tiles away.
        ends = [(r, column) for r in range(rows) if abs(r - row) > 1]
        ends += [(row, c) for c in range(columns) if abs(c - column) > 1]
        if ends and rng.random() < 0.9:
            marks[cell, *rng.choice(ends)] = color
    between: dict[tuple[int, int, int], int] = {}
    for (first, color), (second, partner) in combinations(sorted(marks.items()), 2):
        if first[0] != second[0] or color != partner or (first[1] != second[1] and first[2] != second[2]):
            continue
        for row in range(first[1], second[1] + 1):
            for column in range(min(first[2], second[2]), max(first[2], second[2]) + 1):
                if (first[0], row, column) not in (first, second):
                    if marks.get((first[0], row, column)) is not None:
                        raise Retry
                    if between.setdefault((first[0], row, column), color) != color:
                        raise Retry
    counts = [sum(key[0] == cell for key in marks) for cell in range(4)]
    if not between or max(counts) * 2 >= rows * columns:
        raise Retry
    before = canvas(rows * PERIOD + 1, columns * PERIOD + 1)
    for row in range(rows):
        for column in range(columns):
            frame(before, row * PERIOD + 1, column * PERIOD + 1, 4, 4, ring)
            for cell in range(4):
                place = row * PERIOD + 2 + cell // 2, column * PERIOD + 2 + cell % 2
                before[place] = marks.get((cell, row, column), base[cell])
    after = before.copy()
    for (cell, row, column), color in between.items():
        after[row * PERIOD + 2 + cell // 2, column * PERIOD + 2 + cell % 2] = color
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for down in (2, 3):
        for right in (2, 3):
            cells, result = grid[down::PERIOD, right::PERIOD], output[down::PERIOD, right::PERIOD]
            base = most_common(cells)
            for source, target in ((cells, result), (cells.T, result.T)):
                for line, drawn in zip(source, target, strict=True):
                    for color in set(line.tolist()) - {base}:
                        ends = np.flatnonzero(line == color)
                        drawn[ends[0] : ends[-1] + 1] = color
    return output
