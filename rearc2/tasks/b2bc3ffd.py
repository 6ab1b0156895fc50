"""Things stand on the floor. Each rises by as many rows as it has cells."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, objects, paint, random_shape, retrying

BACKGROUND, FLOOR = 7, 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(2, 4)
    least = rng.randint(2, (6, 4, 3)[count - 2])  # cells of the largest thing
    uneven = count < 4 and least < 6 and rng.random() < 0.7  # not all things are bars
    return retrying(lambda: _draw(rng, count, least, uneven), 1000)


def _draw(rng: Random, count: int, least: int, uneven: bool) -> tuple[Grid, Grid]:
    before = canvas(8, 8, BACKGROUND)
    before[-1] = FLOOR
    after = before.copy()
    for color, (left, height, width) in zip(
        colors(rng, count, (0, BACKGROUND, FLOOR)),
        retrying(lambda: _boxes(rng, count, least, uneven), 1000),
        strict=True,
    ):
        thing = random_shape(rng, height, width, rng.uniform(0.5, 1))
        rise = int(thing.sum())
        top = 7 - height
        if top < rise:
            raise Retry  # a thing must stay in the grid
        paint(before, thing, top, left, color)
        paint(after, thing, top - rise, left, color)
    return before, after


def _boxes(rng: Random, count: int, least: int, uneven: bool) -> list[tuple[int, int, int]]:
    """Left, height and width of things side by side."""
    boxes = []
    left = rng.randint(0, 1)
    for _ in range(count):
        height, width = rng.randint(1, 3), rng.randint(1, rng.choice([2, 3, 6]))
        # A shape that spans its box has so many cells at least, and rises by as many rows.
        if left + width > 8 or height + width - 1 > 7 - height:
            raise Retry
        boxes.append((left, height, width))
        left += width + rng.randint(1, 3)
    if max(height + width - 1 for _, height, width in boxes) < least:
        raise Retry
    if uneven and not any(height > 1 and width > 1 for _, height, width in boxes):
        raise Retry
    return boxes


def verify(grid: Grid) -> Grid:
    output = np.where(grid == FLOOR, FLOOR, BACKGROUND)
    for thing in objects(grid, BACKGROUND):
        if thing.color != FLOOR:
            paint(output, thing.mask, thing.top - thing.size, thing.left, thing.color)
    return output
