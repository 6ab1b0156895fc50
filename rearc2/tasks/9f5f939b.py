"""Where four blue dominoes point at one cell from all four sides, each with one free cell between, that cell becomes
yellow."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, grow

GROUND, BLUE, YELLOW = 8, 1, 4
# Offsets of the four dominoes from the cell they point at: first cell, then its height and width.
CROSS = [((-3, 0), (2, 1)), ((2, 0), (2, 1)), ((0, -3), (1, 2)), ((0, 2), (1, 2))]


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(8, 24)
    free = np.ones((side, side), bool)
    dominoes: set[tuple[tuple[int, int], tuple[int, int]]] = set()

    def add(row: int, column: int, size: tuple[int, int]) -> bool:
        """Puts a domino there unless it would leave the grid or touch another one along an edge."""
        cells = free[row : row + size[0], column : column + size[1]]
        if row < 0 or column < 0 or cells.size != 2 or not cells.all():
            return False
        mask: Mask = np.zeros((side, side), bool)
        mask[row : row + size[0], column : column + size[1]] = True
        free[grow(mask, diagonal=False)] = False
        dominoes.add(((row, column), size))
        return True

    for _ in range(rng.randint(1, 1 + side * side // 90)):
        row, column = rng.randint(3, side - 4), rng.randint(3, side - 4)
        for (down, right), size in CROSS:
            add(row + down, column + right, size)
    # Near misses: crosses that lack a domino, and dominoes anywhere.
    for _ in range(rng.randint(0, side * side // 25)):
        row, column = rng.randint(0, side - 1), rng.randint(0, side - 1)
        for (down, right), size in rng.sample(CROSS, rng.randint(1, 3)):
            add(row + down, column + right, size)
    before = canvas(side, side, GROUND)
    for (row, column), (height, width) in dominoes:
        before[row : row + height, column : column + width] = BLUE
    after = before.copy()
    found = 0
    for (row, column), size in dominoes:
        # Seen from its upper domino, where the other three must be.
        centre = row + 3, column
        if size == (2, 1) and all(
            ((centre[0] + down, centre[1] + right), size) in dominoes for (down, right), size in CROSS
        ):
            if before[centre[0] - 1 : centre[0] + 2, centre[1] - 1 : centre[1] + 2].min() != GROUND:
                raise Retry
            after[centre] = YELLOW
            found += 1
    if not found:
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    height, width = grid.shape
    for row in range(3, height - 3):
        for column in range(3, width - 3):
            upright, lying = grid[row - 3 : row + 4, column], grid[row, column - 3 : column + 4]
            if all(
                (arm == BLUE).tolist() == [True, True, False, False, False, True, True]
                for arm in (upright, lying)
            ):
                output[row, column] = YELLOW
    return output
