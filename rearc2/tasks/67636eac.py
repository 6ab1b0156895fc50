"""One sign occurs several times in different colours. The signs are put together without gaps: one below the other in
a tall grid, side by side in a wide one, in the order in which they come along that way."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, colors, objects, paint, symmetric_shape

SIZE = 3


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(2, 6)
    flips, density = rng.choice(["lr", "ud", "both"]), rng.uniform(0.2, 0.7)
    shape = symmetric_shape(rng, SIZE, SIZE, density, flips) if rng.random() < 0.7 else _dotted(rng)
    if shape.all():
        raise Retry
    shades = colors(rng, count)
    across = rng.randint(5, 20)
    tops = [rng.randint(0, 2)]
    for _ in range(count - 1):
        tops.append(tops[-1] + SIZE + rng.randint(1, 4))
    lefts = [rng.randint(0, across - SIZE)]
    for _ in range(count - 1):
        lefts.append(min(max(lefts[-1] + rng.randint(-4, 4), 0), across - SIZE))
    if len({left + part for left in lefts for part in range(SIZE)}) == SIZE * count:
        raise Retry  # in line both ways: the signs would not tell the way as the grid's form does
    length = tops[-1] + SIZE + rng.randint(0, 5)
    if not across < length <= 30:
        raise Retry
    before, after = canvas(length, across), canvas(SIZE * count, SIZE)
    for number, (top, left, shade) in enumerate(zip(tops, lefts, shades, strict=True)):
        paint(before, shape, top, left, shade)
        paint(after, shape, SIZE * number, 0, shade)
    if rng.random() < 0.5:
        before, after = before.T.copy(), after.T.copy()
    return before, after


def _dotted(rng: Random) -> Mask:
    """A sign whose cells meet at corners alone."""
    return np.indices((SIZE, SIZE)).sum(axis=0) % 2 == rng.randint(0, 1)


def verify(grid: Grid) -> Grid:
    tall = grid.shape[0] > grid.shape[1]
    column = np.vstack(
        [thing.patch for thing in objects(grid if tall else grid.T)]
    )  # they come by their first rows
    return column if tall else column.T


def rival(grid: Grid) -> Grid:
    """Not the grid's form but the signs tell the way: along it no two of them overlap."""
    things = objects(grid)
    rows = [row for thing in things for row in range(thing.top, thing.bottom + 1)]
    if len(set(rows)) == len(rows):
        return np.vstack([thing.patch for thing in sorted(things, key=lambda thing: thing.top)])
    return np.hstack([thing.patch for thing in sorted(things, key=lambda thing: thing.left)])
