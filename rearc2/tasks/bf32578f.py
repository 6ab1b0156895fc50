"""The outline is the left half of a figure that is completed by its mirror image to the right. The output is the inside
of that figure; the outline itself disappears."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, mostly


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = mostly(rng, 6, 10, 18)
    half = rng.randint(3, side // 2)  # width of the outline
    # First column of the outline in the rows of the upper half, downwards ever farther to the left.
    edges = sorted(
        [rng.randrange(half) for _ in range(rng.randint(1, max(1, side // 2 - 2)))] + [0], reverse=True
    )
    if rng.random() < 0.3:
        edges[0] = half - 1
    middle = rng.randint(0, 1)
    height = 2 * len(edges) - middle
    # The leftmost part is one cell wide, like all upright parts of the outline.
    if height < 3 or height > side or edges[-2] > 1:
        raise Retry
    top, left = rng.randint(0, side - height), rng.randint(0, side - 2 * half)
    before, after = canvas(side, side), canvas(side, side)
    (color,) = colors(rng, 1)
    last = half
    for number, edge in enumerate(edges):
        for row in (top + number, top + height - 1 - number):
            end = max(edge + 1, last)
            before[row, left + edge : left + end] = color
            after[row, left + end : left + 2 * half - end] = color
        last = edge
    if not after.any():
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = np.zeros_like(grid)
    columns = np.flatnonzero(grid.any(axis=0))
    axis = int(columns[-1])  # the mirror lies behind this column
    for row in np.flatnonzero(grid.any(axis=1)):
        last = int(np.flatnonzero(grid[row])[-1])
        output[row, last + 1 : 2 * axis + 1 - last] = grid[row, last]
    return output
