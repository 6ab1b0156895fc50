"""Every square, 2x2 or the outline of a larger one, gets red marks at its corners: the two cells outside that share an
edge with the corner. Other rectangles and diagonals get none."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, canvas, colors, objects, paint, place

GROUND, MARK = 7, 2
SIDE = 10


def generate(rng: Random) -> tuple[Grid, Grid]:
    (color,) = colors(rng, 1, without=(0, GROUND, MARK))
    before, after = canvas(SIDE, SIDE, GROUND), canvas(SIDE, SIDE, GROUND)
    if rng.random() < 0.2:
        # A small square inside the outline of a large one.
        large, small = rng.choice([(8, 2), (8, 3), (8, 4), (7, 2), (7, 3), (6, 2)])
        top, left = rng.randint(1, SIDE - 1 - large), rng.randint(1, SIDE - 1 - large)
        down, right = rng.randint(2, large - small - 2), rng.randint(2, large - small - 2)
        squares = [(_outline(large, large), top, left), (_outline(small, small), top + down, left + right)]
        others = []
    else:
        sizes = [rng.choice([2, 2, 2, 3, 3, 3, 4, 4, 5]) for _ in range(rng.choice([1, 2, 3, 4, 4]))]
        # The marks need room before the border; in the gap between two squares they may meet.
        places = place(rng, before.shape, [(size, size) for size in sizes], margin=1)
        squares = [(_outline(size, size), *spot) for size, spot in zip(sizes, places, strict=True)]
        taken = np.zeros(before.shape, bool)
        for size, (top, left) in zip(sizes, places, strict=True):
            taken[top : top + size, left : left + size] = True
        shapes = [_other(rng) for _ in range(rng.randint(1 if len(squares) == 1 else 0, 3))]
        places = place(rng, before.shape, [shape.shape for shape in shapes], taken=taken)
        others = [(shape, *spot) for shape, spot in zip(shapes, places, strict=True)]
    for shape, top, left in squares:
        marks = canvas(shape.shape[0] + 2, shape.shape[1] + 2)
        marks[np.ix_([0, -1], [1, -2])] = MARK
        marks[np.ix_([1, -2], [0, -1])] = MARK
        paint(after, marks, top - 1, left - 1)
    for shape, top, left in squares + others:
        paint(before, shape, top, left, color)
        paint(after, shape, top, left, color)
    return before, after


def _outline(height: int, width: int) -> Mask:
    shape = np.ones((height, width), bool)
    shape[1:-1, 1:-1] = False
    return shape


def _other(rng: Random) -> Mask:
    if rng.random() < 0.3:
        return np.eye(rng.choice([2, 2, 3]), dtype=bool)[:: rng.choice([-1, 1])]
    short = rng.choice([1, 1, 2, 3])
    shape = _outline(short, rng.randint(short + 1, short + 4 if short > 1 else 8))
    if rng.random() < 0.5:
        shape[:] = True
    return shape.T if rng.random() < 0.5 else shape


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for thing in objects(grid, GROUND):
        sides = thing.mask[0], thing.mask[-1], thing.mask[:, 0], thing.mask[:, -1]
        if thing.height == thing.width and all(side.all() for side in sides):
            for row, outer_row in ((thing.top, thing.top - 1), (thing.bottom, thing.bottom + 1)):
                for column, outer in ((thing.left, thing.left - 1), (thing.right, thing.right + 1)):
                    output[outer_row, column] = output[row, outer] = MARK
    return output
