"""The red cross shines: blue rays run along the diagonals, and along its row and column rays of two sky blue
cells and a yellow one in turn."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, mostly, ray

CROSS, DIAGONAL, BEAM = 2, 1, (8, 8, 4)


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = mostly(rng, 7, 15, 30), mostly(rng, 7, 15, 30)
    row, column = rng.randint(2, height - 3), rng.randint(2, width - 3)
    before = canvas(height, width)
    before[row, column - 1 : column + 2] = before[row - 1 : row + 2, column] = CROSS
    after = before.copy()
    for down in (-1, 0, 1):
        for right in (-1, 0, 1):
            if down and right:
                ray(after, (row, column), (down, right), DIAGONAL)
            elif down or right:
                cells = ray(after, (row + down, column + right), (down, right), BEAM[0])
                for number, cell in enumerate(cells):
                    after[cell] = BEAM[number % 3]
    return before, after


def verify(grid: Grid) -> Grid:
    row, column = np.argwhere(grid == CROSS).mean(axis=0).round().astype(int)
    down, right = np.indices(grid.shape)
    down, right = abs(down - row), abs(right - column)
    output = np.where((down == right) & (down > 0), DIAGONAL, 0)
    beam = np.array(BEAM)[(down + right - 2) % 3]
    output = np.where((down == 0) | (right == 0), beam, output)
    return np.where(grid == CROSS, CROSS, output)
