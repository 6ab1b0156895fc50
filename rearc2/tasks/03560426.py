"""The rectangles that stand in a row at the bottom move to the upper left corner as a chain: each one's upper left
cell lies on the lower right cell of the one before it, and covers that."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, fill, objects, paint, retrying

SIDE = 10


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.choice([2, 3, 3, 3, 4, 4, 4])
    sizes = retrying(lambda: _sizes(rng, count))  # here, or four rectangles would hardly ever be drawn
    before, after = canvas(SIDE, SIDE), canvas(SIDE, SIDE)
    left, row, column = 0, 0, 0
    for color, (height, width) in zip(colors(rng, count), sizes, strict=True):
        fill(before, SIDE - height, left, height, width, color)
        fill(after, row, column, height, width, color)
        left += width + 1
        row, column = row + height - 1, column + width - 1
    return before, after


def _sizes(rng: Random, count: int) -> list[tuple[int, int]]:
    """Heights and widths of rectangles that fit side by side, and as a chain."""
    sizes = [(rng.randint(2, 5), rng.randint(1, 4)) for _ in range(count)]
    if sum(width + 1 for _, width in sizes) - 1 > SIDE or sum(height - 1 for height, _ in sizes) + 1 > SIDE:
        raise Retry
    return sizes


def verify(grid: Grid) -> Grid:
    output = np.zeros_like(grid)
    corner = 0, 0
    for thing in sorted(objects(grid), key=lambda thing: thing.left):
        paint(output, thing.patch, *corner)
        corner = corner[0] + thing.height - 1, corner[1] + thing.width - 1
    return output
