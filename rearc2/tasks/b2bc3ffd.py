"""Things stand on the floor. Each rises by as many rows as it has cells."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, objects, paint, random_shape, retrying

BACKGROUND, FLOOR = 7, 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(2, 4)
    return retrying(lambda: _draw(rng, count), 1000)


def _draw(rng: Random, count: int) -> tuple[Grid, Grid]:
    before = canvas(8, 8, BACKGROUND)
    before[-1] = FLOOR
    after = before.copy()
    left = rng.randint(0, 1)
    for color in colors(rng, count, (0, BACKGROUND, FLOOR)):
        height, width = rng.randint(1, 3), rng.randint(1, rng.choice([2, 3, 6]))
        thing = random_shape(rng, height, width, rng.uniform(0.5, 1))
        rise = int(thing.sum())
        top = 7 - height
        # A thing must stay in the grid.
        if top - rise < 0 or left + width > 8:
            raise Retry
        paint(before, thing, top, left, color)
        paint(after, thing, top - rise, left, color)
        left += width + rng.randint(1, 3)
    return before, after


def verify(grid: Grid) -> Grid:
    output = np.where(grid == FLOOR, FLOOR, BACKGROUND)
    for thing in objects(grid, BACKGROUND):
        if thing.color != FLOOR:
            paint(output, thing.mask, thing.top - thing.size, thing.left, thing.color)
    return output
