"""The grid is tiled 3x3. Rows with a dot are filled with blue, and every dot puts green on its upper left and lower
right neighbour."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, mostly

BLUE, GREEN = 1, 3


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = mostly(rng, 2, 4, 8), mostly(rng, 3, 5, 9)
    (color,) = colors(rng, 1, without=(0, BLUE, GREEN))
    # No two rows with dots lie side by side, not even across the seam of two tiles.
    rows = [rng.randrange(height)]
    for row in rng.sample(range(height), height):
        if rng.random() < 0.3 and all(2 <= (row - other) % height <= height - 2 for other in rows):
            rows.append(row)
    dots = []
    for row in rows:
        count = rng.choice([1, 1, 1, 2]) if width > 3 else 1
        columns = rng.sample(range(width), count)
        if count == 2 and (columns[0] - columns[1]) % width in (1, width - 1):
            raise Retry
        dots += [(row, column) for column in columns]
    before, after = canvas(height, width), canvas(3 * height, 3 * width)
    copies = [
        (row + down * height, column + right * width)
        for row, column in dots
        for down in range(3)
        for right in range(3)
    ]
    for row, column in dots:
        before[row, column] = color
    for row, column in copies:
        after[row] = BLUE
        for r, c in ((row - 1, column - 1), (row + 1, column + 1)):
            if 0 <= r < 3 * height and 0 <= c < 3 * width:
                after[r, c] = GREEN
    for place in copies:
        after[place] = color
    return before, after


def verify(grid: Grid) -> Grid:
    tiled = np.tile(grid, (3, 3))
    dots = tiled > 0
    beside = np.zeros_like(dots)
    beside[:-1, :-1] |= dots[1:, 1:]
    beside[1:, 1:] |= dots[:-1, :-1]
    output = np.where(beside, GREEN, 0)
    output[dots.any(axis=1)] = BLUE
    return np.where(dots, tiled, output)
