"""The answer is the one figure that is not its own left-right mirror image."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, colors, label, objects, paint, place, random_shape


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(16, 26)
    (color,) = colors(rng, 1)
    figures = [_symmetric(rng) for _ in range(rng.randint(3, 5 if side > 20 else 4))]
    odd = _spoiled(rng, _symmetric(rng))
    figures.append(odd)
    before, after = canvas(side, side), canvas(*odd.shape)
    for figure, (top, left) in zip(
        figures, place(rng, before.shape, [f.shape for f in figures]), strict=True
    ):
        paint(before, figure, top, left, color)
    paint(after, odd, 0, 0, color)
    return before, after


def _symmetric(rng: Random) -> Mask:
    shape = random_shape(rng, rng.randint(4, 7), rng.randint(4, 8), rng.uniform(0.2, 0.4), diagonal=True)
    if shape.mean() > 0.5:
        raise Retry
    return np.asarray(shape | shape[:, ::-1])


def _spoiled(rng: Random, figure: Mask) -> Mask:
    """The figure with a few cells changed, in one piece, and without mirror symmetry in either direction."""
    odd = figure.copy()
    for _ in range(rng.randint(1, 4)):
        row, column = rng.randrange(odd.shape[0]), rng.randrange(odd.shape[1])
        odd[row, column] ^= True
    spans = odd[0].any() and odd[-1].any() and odd[:, 0].any() and odd[:, -1].any()
    if not spans or label(odd)[1] > 1 or (odd == odd[:, ::-1]).all() or (odd == odd[::-1]).all():
        raise Retry
    return odd


def verify(grid: Grid) -> Grid:
    (odd,) = [thing for thing in objects(grid) if (thing.mask != thing.mask[:, ::-1]).any()]
    return odd.patch


def rival(grid: Grid) -> Grid:
    """The one without any mirror symmetry, left-right or up-down."""
    for thing in objects(grid):
        if (thing.mask != thing.mask[:, ::-1]).any() and (thing.mask != thing.mask[::-1]).any():
            return thing.patch
    return grid
