"""Red things of four or more cells become pink."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, label, objects, paint, place, random_shape, retrying

RED, PINK = 2, 6


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(6, 14), rng.randint(6, 14)
    area = height * width
    counts = rng.randint(1, 1 + area // 40), rng.randint(2, 3 + area // 25)
    return retrying(lambda: _draw(rng, height, width, *counts), 300)


def _draw(rng: Random, height: int, width: int, large_count: int, small_count: int) -> tuple[Grid, Grid]:
    large = [retrying(lambda: _large(rng)) for _ in range(large_count)]
    small = [retrying(lambda: _small(rng)) for _ in range(small_count)]
    things = large + small
    before, after = canvas(height, width), canvas(height, width)
    places = place(rng, (height, width), [thing.shape for thing in things])
    for number, (thing, (top, left)) in enumerate(zip(things, places, strict=True)):
        paint(before, thing, top, left, RED)
        paint(after, thing, top, left, PINK if number < len(large) else RED)
    return before, after


def _large(rng: Random) -> Mask:
    shape = random_shape(rng, rng.randint(2, 3), rng.randint(2, 4), rng.uniform(0.4, 0.9))
    if shape.sum() < 4:
        raise Retry
    return shape


def _small(rng: Random) -> Mask:
    """One to three cells; they may hang together over a corner, as officially."""
    height, width = rng.choice([(1, 1), (1, 1), (1, 2), (2, 1), (2, 2), (1, 3), (3, 1), (2, 3), (3, 2)])
    shape = random_shape(rng, height, width, 0.1, diagonal=True)
    if shape.sum() > 3 or label(shape)[1] > 1:
        raise Retry
    return shape


def verify(grid: Grid) -> Grid:
    return _paint_large(grid, diagonal=True)


def rival_edges(grid: Grid) -> Grid:
    """Cells that touch at corners alone belong to different things."""
    return _paint_large(grid, diagonal=False)


def _paint_large(grid: Grid, diagonal: bool) -> Grid:
    output = np.asarray(grid).copy()
    for thing in objects(grid, diagonal=diagonal):
        if thing.size >= 4:
            paint(output, thing.mask, thing.top, thing.left, PINK)
    return output
