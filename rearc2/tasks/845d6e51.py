"""The fenced corner is a legend: every green figure takes the colour that its shape, turned in any way, has there."""

from random import Random

import numpy as np

from rearc2.helpers import (
    Grid,
    Mask,
    Retry,
    canvas,
    colors,
    objects,
    paint,
    place,
    random_shape,
    retrying,
    symmetries,
)

FENCE, GREEN = 5, 3


def generate(rng: Random) -> tuple[Grid, Grid]:
    shapes: list[Mask] = []
    kinds = rng.randint(2, 4)
    while len(shapes) < kinds:
        shape = retrying(lambda: _shape(rng))
        if not any(_same(shape, other) for other in shapes):
            shapes.append(shape)
    palette = colors(rng, len(shapes), without=(0, FENCE, GREEN))
    legend = canvas(3, rng.randint(0, 1))
    for shape, color in zip(shapes, palette, strict=True):
        part = canvas(3, shape.shape[1] + 1)
        paint(part, shape, rng.randint(0, 3 - shape.shape[0]), 0, color)
        legend = np.hstack([legend, part])
    if rng.random() < 0.3:
        legend = legend[:, :-1]  # the last figure touches the fence
    width = legend.shape[1]
    height, total = rng.randint(10, 20), rng.randint(max(10, width + 3), 20)
    before, after = canvas(height, total), canvas(height, total)
    for grid in (before, after):
        grid[:3, :width] = legend
        grid[:4, width] = grid[3, :width] = FENCE
    choices = list(range(len(shapes)))
    count = max(len(shapes), height * total // rng.randint(20, 40))
    numbers = choices + rng.choices(choices, k=count - len(shapes))
    images = [rng.choice(symmetries(shapes[number])) for number in numbers]
    taken = np.zeros(before.shape, bool)
    taken[:4, : width + 1] = True
    spots = place(rng, before.shape, [image.shape for image in images], taken=taken)
    for number, image, (top, left) in zip(numbers, images, spots, strict=True):
        paint(before, image, top, left, GREEN)
        paint(after, image, top, left, palette[number])
    return before, after


def _shape(rng: Random) -> Mask:
    """Up to five cells, and its mirror image is a turn of it: whether figures may be mirrored need not be known."""
    shape = random_shape(rng, rng.randint(1, 3), rng.randint(1, 3), 0.5)
    turns = [np.rot90(shape, k) for k in range(4)]
    if not 2 <= shape.sum() <= 5 or not any(np.array_equal(shape[:, ::-1], turn) for turn in turns):
        raise Retry
    return shape


def _same(shape: Mask, other: Mask) -> bool:
    return any(np.array_equal(shape, image) for image in symmetries(other))


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    things = objects(np.where(grid == FENCE, 0, grid), diagonal=False)
    known = {
        str(np.rot90(thing.mask, turns).tolist()): thing.color
        for thing in things
        if thing.color != GREEN
        for turns in range(4)
    }
    for thing in things:
        if thing.color == GREEN:
            output[thing.slices][thing.mask] = known[str(thing.mask.tolist())]
    return output
