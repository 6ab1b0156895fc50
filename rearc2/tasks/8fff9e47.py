"""The input is read in blocks of 2x2 cells, row by row. Each gives the colours of the four quarters of a square ring;
the rings lie around each other, the first one innermost."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, random_cells


def generate(rng: Random) -> tuple[Grid, Grid]:
    down, right = rng.choice([(a, b) for a in range(1, 6) for b in range(1, 6) if 3 <= a * b <= 7])
    before = random_cells(rng, (2 * down, 2 * right), range(10))
    half = down * right
    after = canvas(2 * half, 2 * half)
    for number in reversed(range(half)):  # from the outermost ring, so that inner ones cover it
        row, column = divmod(number, right)
        block = before[2 * row : 2 * row + 2, 2 * column : 2 * column + 2]
        size = number + 1
        for r in range(2):
            for c in range(2):
                top, left = half - size * (1 - r), half - size * (1 - c)
                after[top : top + size, left : left + size] = block[r, c]
    return before, after


def verify(grid: Grid) -> Grid:
    height, width = grid.shape
    blocks = grid.reshape(height // 2, 2, width // 2, 2).transpose(0, 2, 1, 3).reshape(-1, 2, 2)
    output = np.zeros((0, 0), np.int64)
    for block in blocks:
        size = output.shape[0]
        ring = np.kron(block, np.ones((size // 2 + 1, size // 2 + 1), np.int64))
        ring[1:-1, 1:-1] = output
        output = ring
    return output
