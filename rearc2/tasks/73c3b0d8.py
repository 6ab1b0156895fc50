"""Every yellow dot falls by one cell. One that then lies on the red line throws two diagonal rays upwards."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, ray

LINE, DOT = 2, 4


def generate(rng: Random) -> tuple[Grid, Grid]:
    height = rng.randint(6, 20)
    width = rng.randint(3, height - 1)
    floor = rng.randint(3, height - 1)
    before = canvas(height, width)
    before[floor] = LINE
    after = before.copy()
    if rng.random() < 0.8:
        column = rng.randrange(width)
        before[floor - 2, column] = after[floor - 1, column] = DOT
        for side in (-1, 1):
            ray(after, (floor - 1, column), (-1, side), DOT)
    rows = [row for row in range(height - 1) if row < floor - 2 or row > floor]
    if rows:
        for _ in range(rng.randint(0, 1 + height * width // 20)):
            row, column = rng.choice(rows), rng.randrange(width)
            # Dots keep apart, and no ray meets one: what happened then is not known.
            near = slice(max(0, row - 1), row + 2), slice(max(0, column - 1), column + 2)
            if not (before[near] == DOT).any() and not after[row + 1, column]:
                before[row, column] = after[row + 1, column] = DOT
    if not (before == DOT).any():
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    floor = int(np.flatnonzero((grid == LINE).all(axis=1))[0])
    output = np.where(grid == LINE, LINE, 0)
    places = np.argwhere(grid == DOT) + np.array([1, 0])
    output[tuple(places.T)] = DOT
    for row, column in places.tolist():
        if row == floor - 1:
            for distance in range(1, row + 1):
                for side in (column - distance, column + distance):
                    if 0 <= side < grid.shape[1]:
                        output[row - distance, side] = DOT
    return output
