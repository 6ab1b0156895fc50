"""The left panel has holes, the right panel coloured shapes. Each hole is filled with the colour of the shape that
fits into it, and the left panel alone remains."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, objects, paint, random_shape


def generate(rng: Random) -> tuple[Grid, Grid]:
    count, height, width = rng.randint(2, 5), rng.randint(2, 4), rng.randint(3, 5)
    wall, *shape_colors = colors(rng, count + 1)
    shapes = []
    for _ in range(count):
        shape_width = rng.randint(2, width)
        shape = random_shape(rng, height, shape_width, rng.uniform(0.4, 0.9))
        shapes.append((shape, 1 + rng.randint(0, width - shape_width)))
    if len({(shape.shape, shape.tobytes()) for shape, _ in shapes}) < count:
        raise Retry
    order = rng.sample(range(count), count)
    if order == sorted(order):
        raise Retry
    left = canvas(count * (height + 1) + 1, width + 2, wall)
    right, after = canvas(*left.shape), left.copy()
    for slot, number in enumerate(order):
        top = 1 + slot * (height + 1)
        shape, offset = shapes[slot]
        paint(left, shape, top, offset, 0)
        paint(after, shape, top, offset, shape_colors[slot])
        shape, offset = shapes[number]
        paint(right, shape, top, offset, shape_colors[number])
    return np.hstack([left, right]), after


def verify(grid: Grid) -> Grid:
    left, right = np.hsplit(grid, 2)
    output = left.copy()
    shapes = objects(right)
    for hole in objects((left == 0).astype(int)):
        (color,) = [shape.color for shape in shapes if np.array_equal(shape.mask, hole.mask)]
        paint(output, hole.mask, hole.top, hole.left, color)
    return output
