"""What the largest of the rectangular frames encloses, all noise around it left out."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, frame, place, random_cells, scatter


def generate(rng: Random) -> tuple[Grid, Grid]:
    shape = rng.randint(16, 30), rng.randint(13, 30)
    sizes = [(rng.randint(6, min(14, shape[0] - 8)), rng.randint(7, min(14, shape[1] - 4)))]
    for _ in range(rng.randint(1, 3)):
        # Smaller in both directions: however one measures, there is one largest frame.
        sizes.append((rng.randint(4, sizes[0][0] - 1), rng.randint(4, sizes[0][1] - 1)))
    if len({height * width for height, width in sizes}) < len(sizes):
        raise Retry
    noise = scatter(rng, shape, rng.uniform(0.2, 0.4))
    grid = np.where(noise, random_cells(rng, shape, range(1, 10)), canvas(*shape))
    colors = rng.sample(range(1, 10), len(sizes))
    tops_lefts = place(rng, shape, sizes, gap=0)
    for (height, width), (top, left), color in zip(sizes, tops_lefts, colors, strict=True):
        frame(grid, top, left, height, width, color)
    (top, left), (height, width) = tops_lefts[0], sizes[0]
    return grid, grid[top + 1 : top + height - 1, left + 1 : left + width - 1].copy()


def verify(grid: Grid) -> Grid:
    return max(_insides(grid), key=lambda inside: inside.size)


def _insides(grid: Grid) -> list[Grid]:
    """What is inside every rectangle whose outline has one colour."""
    height, width = grid.shape
    # How far a line of one colour goes on from each cell, to the right and down.
    across, along = np.ones_like(grid), np.ones_like(grid)
    for c in reversed(range(width - 1)):
        across[:, c] += np.where(grid[:, c] == grid[:, c + 1], across[:, c + 1], 0)
    for r in reversed(range(height - 1)):
        along[r] += np.where(grid[r] == grid[r + 1], along[r + 1], 0)
    found = []
    for top, left in np.argwhere((grid != 0) & (across > 2) & (along > 2)).tolist():
        for bottom in range(top + 2, top + along[top, left]):
            for right in range(left + 2, left + across[top, left]):
                if across[bottom, left] > right - left and along[top, right] > bottom - top:
                    found.append(grid[top + 1 : bottom, left + 1 : right])
    return found
