"""Several blobs lie in the noise of two colours: the output is a 3x3 square in the colour of the largest blob."""

from random import Random

import numpy as np

from rearc2.helpers import (
    Grid,
    Retry,
    canvas,
    colors,
    label,
    objects,
    paint,
    place,
    random_cells,
    random_shape,
)

SIDE = 20


def generate(rng: Random) -> tuple[Grid, Grid]:
    first, second, stray, *blob_colors = colors(rng, 3 + rng.choice([3, 3, 4]))
    noise = [0] * rng.randint(8, 10) + [first] * rng.randint(4, 5) + [second] * rng.randint(3, 5)
    grid = random_cells(rng, (SIDE, SIDE), noise)
    pieces = (label(grid == color, diagonal=False)[0] for color in (first, second))
    if any(np.bincount(numbers.ravel())[1:].max(initial=0) > 14 for numbers in pieces):
        raise Retry
    shapes = [
        random_shape(rng, rng.randint(3, 8), rng.randint(3, 8), rng.choice([1.0, rng.uniform(0.7, 0.95)]))
        for _ in blob_colors
    ]
    sizes = [int(shape.sum()) for shape in shapes]
    largest, next_largest = sorted(sizes)[:-3:-1]
    if min(sizes) < 9 or largest < 20 or largest - next_largest < 4:
        raise Retry
    # The largest blob has the largest box, too: of all blobs, and of noise (14 cells that fill 60 % of a box of 23).
    boxes = [shape.size for shape in shapes]
    if boxes.count(max(boxes)) > 1 or boxes[sizes.index(largest)] != max(boxes) or max(boxes) <= 23:
        raise Retry
    if rng.random() < 0.2:
        grid[rng.randrange(SIDE), rng.randrange(SIDE)] = stray
    for shape, color, (top, left) in zip(
        shapes, blob_colors, place(rng, grid.shape, [shape.shape for shape in shapes]), strict=True
    ):
        paint(grid, shape, top, left, color)
    return grid, canvas(3, 3, blob_colors[sizes.index(largest)])


def verify(grid: Grid) -> Grid:
    largest = max(objects(grid, diagonal=False), key=lambda thing: thing.size)
    return canvas(3, 3, largest.color)


def rival_box(grid: Grid) -> Grid:
    """The blob with the largest bounding box."""
    blobs = [thing for thing in objects(grid, diagonal=False) if thing.size >= 9 and thing.mask.mean() >= 0.6]
    return canvas(3, 3, max(blobs, key=lambda thing: thing.mask.size).color)
