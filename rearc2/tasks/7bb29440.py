"""The answer is the blue rectangle with the fewest dots."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, objects, paint, place, retrying

BLUE, DOTS = 1, (4, 6)


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(2, 8)
    return retrying(lambda: _draw(rng, count))


def _draw(rng: Random, count: int) -> tuple[Grid, Grid]:
    shape = rng.randint(11, 24), rng.randint(10, 26)
    if shape[0] * shape[1] < 60 * count:
        raise Retry
    fewest = rng.randint(1, 3)
    rectangles = []
    for number in range(count):
        rectangle = canvas(rng.randint(3, 10 - count // 2), rng.randint(3, 10 - count // 2), BLUE)
        dots = fewest + (rng.randint(1, 4) if number else 0)
        cells = [(r, c) for r in range(rectangle.shape[0]) for c in range(rectangle.shape[1])]
        for cell in rng.sample(cells, dots):
            rectangle[cell] = rng.choice(DOTS)
        rectangles.append(rectangle)
    before = canvas(*shape)
    sizes = [rectangle.shape for rectangle in rectangles]
    for rectangle, (top, left) in zip(rectangles, place(rng, shape, sizes), strict=True):
        paint(before, rectangle, top, left)
    # Both colours of dots occur: dots of either count alike.
    if any((before == dot).sum() == 0 for dot in DOTS):
        raise Retry
    return before, rectangles[0]


def verify(grid: Grid) -> Grid:
    rectangles = objects(grid, same_color=False)
    return min(rectangles, key=lambda thing: np.isin(thing.patch, DOTS).sum()).patch
