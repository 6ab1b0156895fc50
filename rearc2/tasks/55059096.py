"""Two green crosses whose centres lie on one diagonal are joined by a red line along it."""

from itertools import combinations
from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, grow, line, objects, paint, place

GREEN, RED = 3, 2
CROSS = np.array([[False, True, False], [True, True, True], [False, True, False]])


def generate(rng: Random) -> tuple[Grid, Grid]:
    shape = rng.randint(9, 20), rng.randint(9, 20)
    before = canvas(*shape)
    centres: list[tuple[int, int]] = []
    for _ in range(rng.randint(3, 6 + shape[0] * shape[1] // 120)):
        if centres and rng.random() < 0.6:  # on a diagonal of one that is there
            row, column = rng.choice(centres)
            distance = rng.randint(3, min(shape) - 3)
            row, column = row + rng.choice([-1, 1]) * distance, column + rng.choice([-1, 1]) * distance
        else:
            ((top, left),) = place(rng, shape, [(3, 3)], taken=before == GREEN)
            row, column = top + 1, left + 1
        if not (0 < row < shape[0] - 1 and 0 < column < shape[1] - 1):
            continue
        around = grow(before == GREEN, diagonal=False)[row - 1 : row + 2, column - 1 : column + 2]
        if not (around & CROSS).any():
            centres.append((row, column))
            paint(before, CROSS, row - 1, column - 1, GREEN)
    after = before.copy()
    pairs = [(a, b) for a, b in combinations(centres, 2) if a[0] - b[0] in (a[1] - b[1], b[1] - a[1])]
    if not pairs or len(centres) < 3:
        raise Retry
    for start, end in pairs:
        path = canvas(*shape)
        line(path, start, end, RED)
        # Between the two there is no third cross: apart from both middles the line is free.
        if (before[path == RED] == GREEN).sum() != 2:
            raise Retry
        after[(path == RED) & (before == 0)] = RED
    return before, after


def verify(grid: Grid) -> Grid:
    centres = [(thing.top + 1, thing.left + 1) for thing in objects(grid, diagonal=False)]
    output = grid.copy()
    for start, end in combinations(centres, 2):
        if abs(start[0] - end[0]) == abs(start[1] - end[1]):
            line(output, start, end, RED)
    return np.where(grid == GREEN, GREEN, output)
