"""Every square, outlined or solid, gets red marks at its corners: the two cells outside that share an edge with the
corner. Other rectangles and diagonals get none."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, canvas, colors, frame, objects, paint, place

GROUND, MARK = 7, 2
SIDE = 10


def generate(rng: Random) -> tuple[Grid, Grid]:
    (color,) = colors(rng, 1, without=(0, GROUND, MARK))
    before, after = canvas(SIDE, SIDE, GROUND), canvas(SIDE, SIDE, GROUND)
    if rng.random() < 0.25:
        # A large outline, a square or nearly one, with one more thing inside it.
        height, width = rng.choice([(8, 8), (8, 8), (7, 7), (8, 7), (7, 8), (8, 6)])
        top, left = rng.randint(1, SIDE - 1 - height), rng.randint(1, SIDE - 1 - width)
        outline = np.ones((height, width), bool)
        outline[1:-1, 1:-1] = False
        inner = rng.choice([side for side in (2, 3, 4) if side <= min(height, width) - 4])
        row, column = rng.randint(2, height - inner - 2), rng.randint(2, width - inner - 2)
        drawn = [(outline, top, left), (_square(rng, inner), top + row, left + column)]
    else:
        shapes = [_square(rng, rng.choice([2, 2, 3, 3, 4, 4, 5])) for _ in range(rng.randint(1, 4))]
        shapes += [_other(rng) for _ in range(rng.randint(0, 3))]
        # Squares keep off the border, as their marks need room; place keeps a gap in which marks may meet.
        places = place(rng, (SIDE - 2, SIDE - 2), [shape.shape for shape in shapes])
        drawn = [(shape, top + 1, left + 1) for shape, (top, left) in zip(shapes, places, strict=True)]
        drawn = [(shape, *_to_border(rng, shape, top, left)) for shape, top, left in drawn]
    for shape, top, left in drawn:
        height, width = shape.shape
        if height == width and shape[0, 0] and shape[0, -1]:
            halo = canvas(height + 2, width + 2)
            frame(halo, 0, 0, height + 2, width + 2, MARK)
            halo[:, [0, 2, -3, -1]] *= np.isin(np.arange(height + 2), (1, height))[:, None]
            paint(after, halo, top - 1, left - 1)
    for shape, top, left in drawn:
        paint(before, shape, top, left, color)
        paint(after, shape, top, left, color)
    return before, after


def _square(rng: Random, side: int) -> Mask:
    shape = np.ones((side, side), bool)
    shape[1:-1, 1:-1] = rng.random() < 0.3
    return shape


def _other(rng: Random) -> Mask:
    height, width = rng.choice([(1, 2), (1, 3), (1, 4), (1, 6), (1, 8), (2, 3), (2, 4), (2, 5), (3, 4), (3, 5)])
    shape = np.ones((height, width), bool)
    shape[1:-1, 1:-1] = rng.random() < 0.3
    if rng.random() < 0.3:
        shape = np.eye(rng.choice([2, 2, 3]), dtype=bool)[:: rng.choice([-1, 1])]
    return shape.T if rng.random() < 0.5 else shape
