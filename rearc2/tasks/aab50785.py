"""Pairs of 2x2 sky blue blocks stand in the noise, side by side at the same distance. What lies between the blocks of
each pair is stacked, from top to bottom."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, objects, random_cells

BLOCK = 8
NOISE = [1, 2, 3, 4, 5, 6, 7, 9]


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(10, 20), rng.randint(10, 20)
    pairs, between = rng.randint(1, min(5, height // 3)), rng.randint(3, min(8, width - 5))
    before = random_cells(rng, (height, width), NOISE + [0] * rng.choice([6, 8, 12, 16]))
    # Rows of the pairs, at least three apart.
    rows = sorted(rng.sample(range(height - 1 - 2 * (pairs - 1)), pairs))
    parts = []
    for number, row in enumerate(rows):
        top, left = row + 2 * number, rng.randint(0, width - between - 4)
        for column in (left, left + between + 2):
            before[top : top + 2, column : column + 2] = BLOCK
        parts.append(before[top : top + 2, left + 2 : left + 2 + between])
    after = np.vstack(parts)
    if not after.any():
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    blocks = [thing for thing in objects(np.where(grid == BLOCK, grid, 0))]
    stack = []
    for left in blocks:
        for right in blocks:
            if left.top == right.top and left.left < right.left:
                stack.append(grid[left.top : left.bottom + 1, left.right + 1 : right.left])
    return np.vstack(stack)
