"""A pink thing takes the colour of the dot that touches one of its edges; all dots disappear."""

from random import Random

import numpy as np

from rearc2.helpers import (
    Grid,
    Retry,
    canvas,
    colors,
    grow,
    mostly,
    objects,
    paint,
    place,
    random_shape,
    retrying,
)

BACKGROUND, PINK = 7, 6


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = mostly(rng, 5, 7, 14), mostly(rng, 4, 7, 14)
    count = rng.randint(2, 2 + height * width // 25)
    touched = rng.randint(1, min(count, 7))
    loose = rng.randint(0, min(2, 8 - touched))
    return retrying(lambda: _draw(rng, (height, width), count, touched, loose), 300)


def _draw(rng: Random, shape: tuple[int, int], count: int, touched: int, loose: int) -> tuple[Grid, Grid]:
    things = [
        random_shape(rng, rng.randint(1, 3), rng.randint(1, 3), rng.uniform(0.4, 0.8)) for _ in range(count)
    ]
    things = [thing if thing.size > 1 else np.ones((1, 2), bool) for thing in things]
    before, after = canvas(*shape, BACKGROUND), canvas(*shape, BACKGROUND)
    places = place(rng, shape, [thing.shape for thing in things])
    near = np.zeros(shape, int)  # how many things each cell is next to
    bare = np.zeros(shape, bool)  # the surroundings, corners too, of things that stay pink
    edges = []
    for thing, (top, left) in zip(things, places, strict=True):
        body = np.zeros(shape, bool)
        paint(body, thing, top, left, 1)
        edges.append(grow(body, diagonal=False) & ~body)
        near += edges[-1]
        if len(edges) > touched:
            bare |= grow(body)
        before[body] = after[body] = PINK
    # Does a dot touch at a corner? The official pairs hardly tell: no dot stands so that the answer depends on it.
    apart = ~grow(before == PINK)
    palette = colors(rng, touched + loose, (PINK, BACKGROUND))
    for number in range(touched):
        choices = np.argwhere(edges[number] & (near == 1) & ~bare & (before == BACKGROUND)).tolist()
        if not choices:
            raise Retry
        row, column = rng.choice(choices)
        before[row, column] = palette[number]
        paint(after, things[number], *places[number], palette[number])
    for color in palette[touched:]:
        choices = np.argwhere(apart & (before == BACKGROUND)).tolist()
        if not choices:
            raise Retry
        row, column = rng.choice(choices)
        before[row, column] = color
    if 2 * (before == BACKGROUND).sum() < before.size:
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = np.where(grid == PINK, PINK, BACKGROUND)
    for thing in objects(np.where(grid == PINK, PINK, 0), diagonal=False):
        body = np.zeros(grid.shape, bool)
        body[thing.slices] = thing.mask
        around = grid[grow(body, diagonal=False) & ~body]
        for color in around[around != BACKGROUND]:
            output[body] = color
    return output
