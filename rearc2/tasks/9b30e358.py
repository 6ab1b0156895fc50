"""The pattern at the bottom is repeated upwards as far as the grid goes."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, random_cells

HEIGHT = 10


def generate(rng: Random) -> tuple[Grid, Grid]:
    width, height = rng.randint(5, 9), rng.randint(3, 6)
    ground, *palette = colors(rng, 3)
    pattern_width = rng.choice([3, 3, 5])
    left = rng.randint(0, width - pattern_width)
    cells = random_cells(rng, (height, pattern_width), [ground, *palette])
    if rng.random() < 0.6:
        half = pattern_width // 2
        cells[:, -half:] = cells[:, half - 1 :: -1]
    pattern = canvas(height, width, ground)
    pattern[:, left : left + pattern_width] = cells
    repeats = any((pattern[:-period] == pattern[period:]).all() for period in range(1, height))
    if repeats or (pattern == ground).all(axis=1).any() or len(np.unique(pattern)) < 3:
        raise Retry
    before = canvas(HEIGHT, width, ground)
    before[HEIGHT - height :] = pattern
    return before, np.vstack([pattern] * 4)[-HEIGHT:]


def verify(grid: Grid) -> Grid:
    ground = grid[0, 0]
    top = int(np.argmax((grid != ground).any(axis=1)))
    period = len(grid) - top
    output = grid.copy()
    for row in reversed(range(top)):
        output[row] = output[row + period]
    return output
