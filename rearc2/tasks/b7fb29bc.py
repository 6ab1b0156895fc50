"""The green frame is filled with square rings around the green dot inside it, yellow next to the dot and then red
and yellow by turns, cut off by the frame."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, box, canvas, frame

GREEN, YELLOW, RED = 3, 4, 2
SIDE = 15


def generate(rng: Random) -> tuple[Grid, Grid]:
    size = rng.randint(7, 12)
    top, left = rng.randint(0, SIDE - size), rng.randint(0, SIDE - size)
    row, column = rng.randint(top + 1, top + size - 2), rng.randint(left + 1, left + size - 2)
    before, after = canvas(SIDE, SIDE), canvas(SIDE, SIDE)
    # From the largest ring inwards; then the frame cuts them off.
    for ring in range(size, 0, -1):
        frame(after, row - ring, column - ring, 2 * ring + 1, 2 * ring + 1, YELLOW if ring % 2 else RED)
    inside = np.zeros(after.shape, bool)
    inside[top : top + size, left : left + size] = True
    after[~inside] = 0
    for grid in (before, after):
        frame(grid, top, left, size, size, GREEN)
        grid[row, column] = GREEN
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    top, left, height, width = box(grid == GREEN)
    inner = output[top + 1 : top + height - 1, left + 1 : left + width - 1]
    ((row, column),) = np.argwhere(inner == GREEN).tolist()
    rows, columns = np.indices(inner.shape)
    distance = np.maximum(abs(rows - row), abs(columns - column))
    inner[...] = np.where(distance % 2 == 1, YELLOW, RED)
    inner[row, column] = GREEN
    return output
