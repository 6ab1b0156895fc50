"""Around every yellow cell a red square grows until it meets the nearest grey cell."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, grow

SEED, STOP, SQUARE = 4, 5, 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    largest = rng.choice([12, 20, 30])
    height, width = rng.randint(8, largest), rng.randint(8, largest)
    after = canvas(height, width)
    seeds = []
    for _ in range(rng.randint(1, 1 + height * width // 150)):
        radius = min(rng.randint(1, 6), rng.randint(1, 6))
        if min(height, width) < 2 * radius + 2:
            continue
        row, column = rng.randint(radius, height - 1 - radius), rng.randint(radius, width - 1 - radius)
        square = after[row - radius : row + radius + 1, column - radius : column + radius + 1]
        if square.any():
            continue
        square[:] = SQUARE
        seeds.append((row, column, radius))
    # One stop on the ring just outside of each square, and some farther away.
    for row, column, radius in seeds:
        ring = [
            (r, c)
            for r in range(max(0, row - radius - 1), min(height, row + radius + 2))
            for c in range(max(0, column - radius - 1), min(width, column + radius + 2))
            if max(abs(r - row), abs(c - column)) == radius + 1 and after[r, c] != SQUARE
        ]
        if not ring:
            raise Retry
        after[rng.choice(ring)] = STOP
    free = np.argwhere(after == 0).tolist()
    extra = 0 if len(seeds) == 1 and rng.random() < 0.5 else rng.randint(0, height * width // 60)
    for r, c in rng.sample(free, min(extra, len(free))):
        after[r, c] = STOP
    if not seeds:
        raise Retry
    for row, column, _ in seeds:
        after[row, column] = SEED
    return np.where(after == SQUARE, 0, after), after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for row, column in np.argwhere(grid == SEED).tolist():
        square = np.zeros(grid.shape, bool)
        square[row, column] = True
        while not (grid[grow(square)] == STOP).any():
            square = grow(square)
        output[square & (grid == 0)] = SQUARE
    return output
