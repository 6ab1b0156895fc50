"""Overlapping rectangles become a bar chart: one column for each, as long as the rectangle is high, from the longest to
the shortest."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, box, canvas, colors, fill, retrying


def generate(rng: Random) -> tuple[Grid, Grid]:
    shape = rng.randint(10, 22), rng.randint(13, 22)
    count = rng.randint(3, 6)
    return retrying(lambda: _draw(rng, shape, count), 500)


def _draw(rng: Random, shape: tuple[int, int], count: int) -> tuple[Grid, Grid]:
    heights = rng.sample(range(1, min(10, shape[0] - 2)), count)
    palette = colors(rng, count)
    before = canvas(*shape)
    tops = []
    for height, color in zip(heights, palette, strict=True):
        width = rng.randint(3, 9)
        top, left = rng.randint(0, shape[0] - height), rng.randint(0, shape[1] - width)
        fill(before, top, left, height, width, color)
        tops.append(top)
    if 2 * (before == 0).sum() < before.size:
        raise Retry
    after = canvas(max(heights), count)
    bars = sorted(zip(heights, palette, tops, strict=True), reverse=True)
    for column, (height, color, top) in enumerate(bars):
        seen = before == color
        # The whole height must be seen, and a good part of the rectangle.
        if seen.sum() < 2 * height or box(seen)[::2] != (top, height):
            raise Retry
        fill(after, 0, column, height, 1, color)
    return before, after


def verify(grid: Grid) -> Grid:
    heights = {color: box(grid == color)[2] for color in np.unique(grid[grid > 0]).tolist()}
    order = sorted(heights, key=lambda color: -heights[color])
    output = np.zeros((heights[order[0]], len(order)), np.int64)
    for column, color in enumerate(order):
        output[: heights[color], column] = color
    return output
