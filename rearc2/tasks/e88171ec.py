"""In the noise there is one large empty rectangle. It gets a sky-blue filling that leaves a margin of one cell."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, colors, fill, scatter, spots

FILLING = 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(13, 24)
    noise, specks = colors(rng, 2, without=(0, FILLING))
    before = scatter(rng, (side, side), rng.uniform(0.58, 0.7)) * noise
    if rng.random() < 0.4:
        before[scatter(rng, before.shape, 0.15) & (before > 0)] = specks
    height, width = rng.randint(4, 7), rng.randint(4, 7)
    top, left = rng.randint(1, side - height - 1), rng.randint(1, side - width - 1)
    fill(before, top, left, height, width, 0)
    # No other empty rectangle may be as large.
    for rows in range(1, side + 1):
        columns = -(-height * width // rows)
        found = len(spots(before > 0, rows, columns))
        if found > (rows == height):
            raise Retry
    after = before.copy()
    fill(after, top + 1, left + 1, height - 2, width - 2, FILLING)
    return before, after


def verify(grid: Grid) -> Grid:
    """For every bottom row, the largest empty rectangle that stands on it."""
    best = (0, 0, 0, 0, 0)
    depth = np.zeros(grid.shape[1], int)  # empty cells upwards from here
    for row, cells in enumerate(grid):
        depth = np.where(cells == 0, depth + 1, 0)
        for left in range(len(depth)):
            height = int(depth[left])
            for right in range(left, len(depth)):
                height = min(height, int(depth[right]))
                if not height:
                    break
                best = max(best, (height * (right - left + 1), row - height + 1, left, row, right))
    _, top, left, bottom, right = best
    output = grid.copy()
    output[top + 1 : bottom, left + 1 : right] = FILLING
    return output
