"""The longest diagonal run of free cells in the cave is marked in sky blue; of equally long ones (train 1 only) the one
nearest to the grid's own diagonal."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, background, canvas, label, scatter

WALL, MARK, SIDE = 5, 8, 10


def generate(rng: Random) -> tuple[Grid, Grid]:
    before = canvas(SIDE, SIDE, WALL)
    cave = before[1:-1, 1:-1]
    cave[:] = 0
    # Ragged walls: two rims, the outer one denser, and few stones within.
    for depth, density in ((0, rng.uniform(0.35, 0.6)), (1, rng.uniform(0.1, 0.35)), (2, 0.05)):
        size = SIDE - 2 - 2 * depth
        rim = scatter(rng, (size, size), density)
        rim[1:-1, 1:-1] = False
        cave[depth : depth + size, depth : depth + size][rim] = WALL
    if label(before == 0)[1] > 1 or background(before) != WALL:
        raise Retry
    runs = []
    for row, column in np.argwhere(before == 0).tolist():
        for right in (-1, 1):
            if before[row - 1, column - right] == 0:
                continue
            length = 1
            while before[row + length, column + length * right] == 0:
                length += 1
            runs.append((length, row, column, right))
    runs.sort()
    length, row, column, right = runs[-1]
    if length == runs[-2][0] or length < 5:
        raise Retry
    after = before.copy()
    for step in range(length):
        after[row + step, column + step * right] = MARK
    return before, after


def verify(grid: Grid) -> Grid:
    best, output = (0, 0), grid.copy()
    for mirrored in (False, True):
        cave = grid[:, ::-1] if mirrored else grid
        for offset in range(1 - len(grid), len(grid)):
            cells, run = cave.diagonal(offset), 0
            for end, cell in enumerate(cells.tolist(), start=1):
                run = run + 1 if cell == 0 else 0
                if (run, -abs(offset)) > best:
                    best, output = (run, -abs(offset)), grid.copy()
                    steps = np.arange(end - run, end)
                    drawn = output[:, ::-1] if mirrored else output
                    drawn[steps + max(0, -offset), steps + max(0, offset)] = MARK
    return output
