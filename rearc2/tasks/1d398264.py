"""The eight cells around the middle of the 3x3 block each shoot a ray of their colour away from the middle, to the
edge of the grid."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, box, canvas, colors, random_cells, ray


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(8, 26)
    middle, *palette = colors(rng, rng.randint(5, 6))
    block = random_cells(rng, (3, 3), palette)
    # Neighbours often share a colour.
    block[2, 1:] = block[2, 1] if rng.random() < 0.5 else block[2, 1:]
    block[1:, 0] = block[1, 0] if rng.random() < 0.3 else block[1:, 0]
    block[:2, 2] = block[0, 2] if rng.random() < 0.3 else block[:2, 2]
    block[1, 1] = middle
    top, left = rng.randint(1, side - 4), rng.randint(1, side - 4)
    before = canvas(side, side)
    before[top : top + 3, left : left + 3] = block
    after = before.copy()
    for down in range(3):
        for right in range(3):
            r, c = top + down, left + right
            while (down, right) != (1, 1) and 0 <= r < side and 0 <= c < side:
                after[r, c] = block[down, right]
                r, c = r + down - 1, c + right - 1
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    top, left, _, _ = box(grid != 0)
    for r, c in np.argwhere(grid != 0).tolist():
        step = r - top - 1, c - left - 1
        if step != (0, 0):
            ray(output, (r, c), step, int(grid[r, c]))
    return output
