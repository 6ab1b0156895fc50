"""Every blue shape takes the colour of the shape that equals it, place apart."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, colors, objects, paint, place, random_shape

BLUE = 1


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = max(rng.randint(1, 6), rng.randint(1, 6))
    side = rng.randint(4 + count, 8 + 2 * count)
    shapes: list[Mask] = []
    for _ in range(count):
        height, width = rng.choice([1, 2, 3, 3]), rng.choice([2, 3, 3])
        shape = random_shape(rng, height, width, rng.uniform(0.3, 0.8))
        shape = shape if rng.random() < 0.5 else shape.T
        if (shape.all() and shape.size > 3) or any(np.array_equal(shape, other) for other in shapes):
            raise Retry
        shapes.append(shape)
    inks = colors(rng, count, without=(0, BLUE))
    if count > 3 and rng.random() < 0.3:
        inks[0] = inks[1]
    before, after = canvas(side, side), canvas(side, side)
    corners = place(rng, before.shape, [shape.shape for shape in shapes for _ in range(2)])
    for number, (top, left) in enumerate(corners):
        shape, ink = shapes[number // 2], inks[number // 2]
        paint(before, shape, top, left, BLUE if number % 2 else ink)
        paint(after, shape, top, left, ink)
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    things = objects(grid)
    for blue in things:
        if blue.color == BLUE:
            (model,) = [
                other for other in things if other.color != BLUE and np.array_equal(other.mask, blue.mask)
            ]
            paint(output, blue.mask, blue.top, blue.left, model.color)
    return output
