"""The objects are counted by cells: they become concentric square rings on one another, the largest outside, the
smallest a single cell in the middle."""

from random import Random

from rearc2.helpers import (
    Grid,
    Mask,
    Retry,
    background,
    canvas,
    colors,
    fill,
    objects,
    paint,
    place,
    random_shape,
)

ORANGE = 7


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(5, 14)
    count = rng.randint(2, min(7, side - 2))
    palette = colors(rng, count, without=(ORANGE,))
    shapes: dict[int, Mask] = {}  # number of cells -> one shape of that size
    while len(shapes) < count:
        shape = random_shape(rng, rng.randint(1, 4), rng.randint(1, 4), rng.uniform(0.3, 1))
        shapes[int(shape.sum())] = shape
    sizes = rng.sample(sorted(shapes), count)
    before = canvas(side, side, ORANGE)
    places = place(rng, before.shape, [shapes[size].shape for size in sizes])
    for color, size, (top, left) in zip(palette, sizes, places, strict=True):
        paint(before, shapes[size], top, left, color)
    if background(before) != ORANGE:
        raise Retry
    after = canvas(2 * count - 1, 2 * count - 1)
    for ring, number in enumerate(sorted(range(count), key=lambda number: -sizes[number])):
        length = 2 * (count - ring) - 1
        fill(after, ring, ring, length, length, palette[number])
    return before, after


def verify(grid: Grid) -> Grid:
    things = sorted(objects(grid, background=ORANGE), key=lambda thing: thing.size)
    output = canvas(1, 1, things[0].color)
    for thing in things[1:]:
        wider = canvas(output.shape[0] + 2, output.shape[1] + 2, thing.color)
        wider[1:-1, 1:-1] = output
        output = wider
    return output
