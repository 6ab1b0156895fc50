"""The lattice of dots is drawn large on 26x26 cells: each dot becomes a block, and two cells separate blocks. Equal
neighbours in a row merge over the gap; dots without such a neighbour merge with each other down their column."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, random_cells

SIDE, GAP = 26, 2
COUNTS = [1, 2, 2, 3, 3, 4, 4, 4, 6]  # so many blocks, gaps and margins fill the side exactly


def generate(rng: Random) -> tuple[Grid, Grid]:
    rows, columns = rng.choice(COUNTS), rng.choice(COUNTS)
    palette = colors(rng, rng.randint(2, 6))
    dots = random_cells(rng, (rows, columns), palette * 2 + rng.choice([[], [0]]))
    for _ in range(rng.randint(0, 2)):  # more neighbours that are equal
        r, c = rng.randrange(rows), rng.randrange(columns)
        dots[r, c : c + 2] = dots[r, c]
    if len(np.unique(dots[dots > 0])) < 2 or not (dots.any(axis=0).all() and dots.any(axis=1).all()):
        raise Retry
    before = canvas(2 * rows + 1, 2 * columns + 1)
    before[1::2, 1::2] = dots
    return before, _enlarged(dots)


def _enlarged(dots: Grid) -> Grid:
    rows, columns = dots.shape
    tall, wide = (SIDE - GAP) // rows, (SIDE - GAP) // columns  # a block and one gap
    output = canvas(SIDE, SIDE)
    runs = []  # (row, first column, last column, colour)
    for r in range(rows):
        start = 0
        for c in range(1, columns + 1):
            if c == columns or dots[r, c] != dots[r, start]:
                runs.append((r, start, c - 1, int(dots[r, start])))
                start = c
    for row, first, last, color in runs:
        if not color:
            continue
        bottom = row
        below = (row + 1, first, last, color)
        if below in runs:
            if last > first:  # whether equal bars merge is never shown
                raise Retry
            bottom = row + 1
        output[
            GAP + row * tall : bottom * tall + tall,
            GAP + first * wide : last * wide + wide,
        ] = color
    return output


def verify(grid: Grid) -> Grid:
    dots = grid[1::2, 1::2]
    rows, columns = dots.shape
    same = (dots[:, 1:] == dots[:, :-1]) & (dots[:, 1:] != 0)
    in_bar = np.pad(same, ((0, 0), (1, 0))) | np.pad(same, ((0, 0), (0, 1)))
    tall, wide = (SIDE - GAP) // rows - GAP, (SIDE - GAP) // columns - GAP
    output = canvas(SIDE, SIDE)
    for r in range(rows):
        for c in range(columns):
            top, left = GAP + r * (tall + GAP), GAP + c * (wide + GAP)
            right_too = c + 1 < columns and bool(same[r, c])
            down_too = r + 1 < rows and dots[r, c] == dots[r + 1, c] and not in_bar[r : r + 2, c].any()
            block = output[top : top + tall + GAP * down_too, left : left + wide + GAP * right_too]
            if dots[r, c]:
                block[...] = dots[r, c]
    return output
