"""There are two figures of one size, each in its colour: every one is replaced, in its place, by the other with its
colour."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, objects, paint, place, random_shape

Place = tuple[int, int]


def generate(rng: Random) -> tuple[Grid, Grid]:
    tall, wide = rng.choice([(2, 2), (2, 3), (3, 2), (3, 3), (3, 3), (3, 4), (4, 3), (4, 4)])
    density = 0.5 if tall * wide == 4 else rng.uniform(0.35, 0.7)
    one, other = (random_shape(rng, tall, wide, density, diagonal=True) for _ in range(2))
    if (one == other).all() or one.all() or other.all():
        raise Retry
    height, width = rng.randint(8, 17), rng.randint(8, 17)
    count = rng.choice([3, 4, 5, 5, 6, 7])
    places = _lattice(rng, height, width, tall, wide) if rng.random() < 0.7 else []
    if places:
        places = rng.sample(places, min(count, len(places)))
    else:
        places = place(rng, (height, width), [(tall, wide)] * count, margin=1)
    if len(places) < 3:
        raise Retry
    first, second = colors(rng, 2)
    before, after = canvas(height, width), canvas(height, width)
    for number, (top, left) in enumerate(places):
        swapped = number == 0  # one figure is rare, the other common
        paint(before, other if swapped else one, top, left, second if swapped else first)
        paint(after, one if swapped else other, top, left, first if swapped else second)
    return before, after


def _lattice(rng: Random, height: int, width: int, tall: int, wide: int) -> list[Place]:
    """Places in rows and columns, with a margin around and equal gaps between."""
    down, right = tall + rng.randint(1, 2), wide + rng.randint(1, 2)
    return [(top, left) for top in range(1, height - tall, down) for left in range(1, width - wide, right)]


def verify(grid: Grid) -> Grid:
    figures = {thing.color: thing.mask for thing in objects(grid)}
    output = np.zeros_like(grid)
    for thing in objects(grid):
        (swapped,) = [color for color in figures if color != thing.color]
        paint(output, figures[swapped], thing.top, thing.left, swapped)
    return output
