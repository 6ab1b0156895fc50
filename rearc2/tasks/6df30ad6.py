"""The grey figure takes the colour of the cell that is nearest to it; all other cells disappear."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, colors, paint, place, retrying

SIDE, FIGURE = 10, 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(2, 15)
    return retrying(lambda: _draw(rng, count))  # the count is kept: many cells fail more often


def _draw(rng: Random, count: int) -> tuple[Grid, Grid]:
    figure = _figure(rng)
    height, width = figure.shape
    before, after = canvas(SIDE, SIDE), canvas(SIDE, SIDE)
    top, left = rng.randint(1, SIDE - 1 - height), rng.randint(1, SIDE - 1 - width)
    paint(before, figure, top, left, FIGURE)
    shades = colors(rng, rng.randint(2, 4), without=(0, FIGURE))
    dots = place(rng, before.shape, [(1, 1)] * count, taken=before > 0)
    cells = np.argwhere(before == FIGURE)
    for dot, shade in zip(dots, shades + rng.choices(shades, k=count), strict=False):
        before[dot] = shade
    # The nearest is the same whether steps or straight lines are counted.
    steps = sorted((int(np.abs(cells - dot).sum(axis=1).min()), int(before[dot])) for dot in dots)
    lines = sorted((int(((cells - dot) ** 2).sum(axis=1).min()), int(before[dot])) for dot in dots)
    if len({color for way in (steps, lines) for distance, color in way if distance == way[0][0]}) > 1:
        raise Retry
    paint(after, figure, top, left, steps[0][1])
    return before, after


def _figure(rng: Random) -> Mask:
    """A rectangle, a bar or, in the other half of the cases, a block with its corners cut off."""
    if rng.random() < 0.5:
        height, width = rng.randint(1, 5), rng.randint(1, 5)
        if height * width < 3:
            raise Retry
        return np.ones((height, width), bool)
    height, width = rng.randint(3, 6), rng.randint(3, 6)
    down, right = np.indices((height, width))
    from_middle = np.abs(2 * down - height + 1) + np.abs(2 * right - width + 1)
    return np.asarray(from_middle <= max(height, width))


def verify(grid: Grid) -> Grid:
    return _painted(grid, 2)


def rival(grid: Grid) -> Grid:
    """Near by steps along rows and columns, not by the straight line."""
    return _painted(grid, 1)


def _painted(grid: Grid, power: int) -> Grid:
    best = {}
    for row, column in np.argwhere((grid != 0) & (grid != FIGURE)).tolist():
        offsets = np.abs(np.argwhere(grid == FIGURE) - (row, column))
        best[int((offsets**power).sum(axis=1).min())] = int(grid[row, column])
    return np.where(grid == FIGURE, best[min(best)], 0)
