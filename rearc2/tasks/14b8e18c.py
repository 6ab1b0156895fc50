"""Every square, outlined or solid, gets red marks at its corners: the two cells outside that share an edge with the
corner. Other rectangles and diagonals get none."""

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
        squares = [(_rectangle(large, large, False), top, left)]
        squares += [(_rectangle(small, small, rng.random() < 0.5), top + down, left + right)]
        others = []
    else:
        shapes = [_square(rng) for _ in range(rng.choice([1, 2, 3, 4, 4]))]
        # The marks need room before the border; in the gap between two squares they may meet.
        places = place(rng, before.shape, [shape.shape for shape in shapes], margin=1)
        squares = [(shape, *spot) for shape, spot in zip(shapes, places, strict=True)]
        for shape, top, left in squares:
            paint(before, np.ones(shape.shape, bool), top, left, color)
        shapes = [_other(rng) for _ in range(rng.randint(1 if len(squares) == 1 else 0, 3))]
        places = place(rng, before.shape, [shape.shape for shape in shapes], taken=before == color)
        others = [(shape, *spot) for shape, spot in zip(shapes, places, strict=True)]
        before[:] = GROUND
    for shape, top, left in squares:
        marks = canvas(shape.shape[0] + 2, shape.shape[1] + 2)
        marks[np.ix_([0, -1], [1, -2])] = MARK
        marks[np.ix_([1, -2], [0, -1])] = MARK
        paint(after, marks, top - 1, left - 1)
    for shape, top, left in squares + others:
        paint(before, shape, top, left, color)
        paint(after, shape, top, left, color)
    return before, after


def _rectangle(height: int, width: int, solid: bool) -> Mask:
    shape = np.ones((height, width), bool)
    shape[1:-1, 1:-1] = solid
    return shape


def _square(rng: Random) -> Mask:
    side = rng.choice([2, 2, 2, 3, 3, 3, 4, 4, 5])
    return _rectangle(side, side, side < 4 and rng.random() < 0.3)


def _other(rng: Random) -> Mask:
    if rng.random() < 0.3:
        return np.eye(rng.choice([2, 2, 3]), dtype=bool)[:: rng.choice([-1, 1])]
    short = rng.choice([1, 1, 2, 3])
    shape = _rectangle(short, rng.randint(short + 1, short + 4 if short > 1 else 8), rng.random() < 0.5)
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
