"""The pieces fall, each as a whole, and come to rest on each other or one free cell above the ground (or above the
lower border)."""

from random import Random

import numpy as np

from rearc2.helpers import (
    Grid,
    Mask,
    Retry,
    canvas,
    colors,
    grow,
    mostly,
    objects,
    paint,
    place,
    random_shape,
)

SKY = 7


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = mostly(rng, 4, 9, 14), mostly(rng, 7, 10, 22)
    ground_color, color = colors(rng, 2, without=(SKY,))
    ground = _ground(rng, height, width)
    count = rng.randint(1, 1 + width // 4)
    shapes = []
    for _ in range(count):
        size = rng.randint(1, min(5, height // 2)), rng.randint(1, min(5, width // 3))
        shapes.append(random_shape(rng, *size, rng.uniform(0.4, 0.8)))
    places = place(rng, (height, width), [shape.shape for shape in shapes], taken=ground)
    before = canvas(height, width, SKY)
    before[ground] = ground_color
    after = before.copy()
    rest = np.zeros((height, width), bool)
    # What lies lowest comes to rest first.
    for shape, (top, left) in sorted(zip(shapes, places, strict=True), key=lambda item: -item[1][0]):
        paint(before, shape, top, left, color)
        rows, columns = np.nonzero(shape)
        rows, columns = rows + top, columns + left
        while (rows + 2 < height).all() and not (ground[rows + 2, columns] | rest[rows + 1, columns]).any():
            rows = rows + 1
        rest[rows, columns] = True
        after[rows, columns] = color
    # A piece beside the ground, or one that cannot fall, shows nothing; no piece starts in the last row.
    if (grow(rest) & ground).any() or rest[-1].any() or (before == after).all():
        raise Retry
    return before, after


def _ground(rng: Random, height: int, width: int) -> Mask:
    """A floor of some steps with walls at its ends, or a few stones in the last row."""
    ground = np.zeros((height, width), bool)
    if rng.random() < 0.3:
        ground[-1, :: rng.randint(3, 5)] = True
        return ground
    ground[-1] = True
    column = 0
    while column < width:
        run = rng.randint(1, 6)
        ground[height - rng.randint(1, 3) :, column : column + run] = True
        column += run
    for column in rng.sample([0, width // 2, width - 1], rng.randint(0, 3)):
        ground[rng.randint(0, height - 2) :, column] = True
    return ground


def verify(grid: Grid) -> Grid:
    ground_color = int(np.setdiff1d(grid[-1], [SKY])[0])
    ground = grid == ground_color
    # The cells that touch the ground from above, and the last row, are no place to rest on.
    blocked = np.vstack([ground[:-1] | ground[1:], np.ones((1, grid.shape[1]), bool)])
    loose = np.where(ground | (grid == SKY), -1, grid)
    pieces = [np.array(thing.cells) for thing in objects(loose, background=-1, diagonal=False)]
    color = int(loose.max())
    moved = True
    while moved:
        moved = False
        for number, piece in enumerate(pieces):
            others = blocked.copy()
            for other in pieces[:number] + pieces[number + 1 :]:
                others[tuple(other.T)] = True
            below = piece + np.array([1, 0])
            if (below[:, 0] < len(grid)).all() and not others[tuple(below.T)].any():
                pieces[number] = below
                moved = True
    output = np.where(ground, ground_color, SKY)
    for piece in pieces:
        output[tuple(piece.T)] = color
    return output
