"""A stack of figures, each of one colour: every figure is turned upside down in its place."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, box, canvas, colors, paint, scatter, symmetric_shape


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.choice([7, 9, 11, 13, 15, 15, 17, 19])
    heights: list[int] = []
    while sum(heights) < side - 2:
        heights.append(rng.randint(1, min(4, side - 2 - sum(heights))))
    if not 3 <= len(heights) <= 6:
        raise Retry
    before, after = canvas(side, side), canvas(side, side)
    top, turned = 1, 0
    for height, color in zip(heights, colors(rng, len(heights), without=(0, 6, 7)), strict=True):
        figure = _figure(rng, height, rng.choice(range(3 if side < 11 else 5, side - 1, 2)))
        paint(before, figure, top, (side - figure.shape[1]) // 2, color)
        paint(after, figure[::-1], top, (side - figure.shape[1]) // 2, color)
        turned += not (figure == figure[::-1]).all()
        top += height
    if 2 * turned < len(heights):
        raise Retry
    return before, after


def _figure(rng: Random, height: int, width: int) -> Mask:
    """A figure with left-right symmetry that spans its box from top to bottom; at times in pieces."""
    if height == 1:
        return np.ones((1, width), bool)
    if rng.random() < 0.6:
        return symmetric_shape(rng, height, width, rng.uniform(0.6, 0.9))
    half = scatter(rng, (height, width // 2 + 1), 0.6)
    if not half.any(axis=1).all() or not half[:, 0].any():
        raise Retry
    return np.hstack([half, half[:, -2::-1]])


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for color in np.unique(grid[grid > 0]):
        top, _, height, _ = box(grid == color)
        rows = slice(top, top + height)
        output[rows] = grid[rows][::-1]
    return output
