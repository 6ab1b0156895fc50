"""The lower half of the blue figure, whose halves mirror each other, becomes red."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, box, canvas, frame, paint, symmetric_shape

BLUE, RED = 1, 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    figure = _figure(rng)
    height, width = figure.shape
    shape = height + rng.randint(1, 4), width + rng.randint(1, 5)
    if 2 * figure.sum() >= shape[0] * shape[1] or figure.mean() > 0.75:
        raise Retry
    top, left = rng.randint(0, shape[0] - height), rng.randint(0, shape[1] - width)
    before, after = canvas(*shape), canvas(*shape)
    paint(before, figure, top, left, BLUE)
    paint(after, figure, top, left, BLUE)
    paint(after, figure[height // 2 :], top + height // 2, left, RED)
    return before, after


def _figure(rng: Random) -> Mask:
    """A frame with bars, often with tips, or an irregular figure; its height is even."""
    height, width = 2 * rng.randint(2, 5), rng.randint(4, 10)
    if rng.random() < 0.5:
        return symmetric_shape(rng, height, width, rng.uniform(0.3, 0.5), rng.choice(("ud", "both")))
    figure = canvas(height, width)
    frame(figure, 0, 0, height, width, 1)
    bars = [column for column in range(2, width - 2) if rng.random() < 0.3]
    if any(second - first == 1 for first in bars for second in bars):
        raise Retry
    figure[:, bars] = 1
    if rng.random() < 0.4:
        inset = rng.randint(1, max(1, (width - 1) // 3))
        figure[1:-1, [0, -1]] = 0
        figure[1:-1, [inset, -1 - inset]] = 1
    if rng.random() < 0.4:
        tip = np.zeros((1, width), np.int64)
        tip[0, width // 2] = 1
        figure = np.vstack([tip, figure, tip])
    return figure > 0


def verify(grid: Grid) -> Grid:
    top, _, height, _ = box(grid == BLUE)
    output = grid.copy()
    lower = output[top + height // 2 :]
    lower[lower == BLUE] = RED
    return output
