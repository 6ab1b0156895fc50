"""Every figure moves to the right by its own width."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, objects, paint, random_shape

FIGURE = 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(5, 20)
    before, after = canvas(side, side), canvas(side, side)
    top = rng.randint(0, 2)
    for _ in range(rng.randint(1, 1 + side // 4)):
        width = rng.randint(1 if before.any() else 2, min(7, side // 2))
        if top + width > side:
            break
        # As high as wide: officially nothing tells which of the two is the distance.
        figure = random_shape(rng, width, width, rng.uniform(0.3, 0.9), diagonal=True)
        left = rng.randint(0, min(side - 2 * width, 6))
        paint(before, figure, top, left, FIGURE)
        paint(after, figure, top, left + width, FIGURE)
        top += width + rng.randint(1, 3)  # one below the other: no figure can run into another
    if not before.any():
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = np.zeros_like(grid)
    for thing in objects(grid):
        for row, column in thing.cells:
            output[row, column + thing.width] = FIGURE
    return output


def rival(grid: Grid) -> Grid:
    """By its own height."""
    output = np.zeros_like(grid)
    for thing in objects(grid):
        output[thing.slices[0], thing.left + thing.height : thing.right + thing.height + 1] += thing.patch
    return output
