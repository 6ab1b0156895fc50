"""The red cell in the left column tells how far down the first row goes; the other rows follow it, round and round. The
left column disappears."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, grow

SIDE, RULER, MARK = 6, 6, 2
SHADES = [1, 3, 4, 5, 8, 9]


def generate(rng: Random) -> tuple[Grid, Grid]:
    mosaic = _mosaic(rng)
    shift = rng.randrange(SIDE)
    ruler = canvas(SIDE, 1, RULER)
    ruler[shift] = MARK
    if shift and (mosaic == np.roll(mosaic, shift, axis=0)).all():
        raise Retry
    return np.hstack([ruler, mosaic]), np.vstack([mosaic[SIDE - shift :], mosaic[: SIDE - shift]])


def _mosaic(rng: Random) -> Grid:
    """Patches that grow from single cells until they fill the square."""
    mosaic = canvas(SIDE, SIDE)
    shades = SHADES + [rng.choice(SHADES) for _ in range(rng.randint(0, 4))]
    for cell, shade in zip(rng.sample(range(SIDE * SIDE), len(shades)), shades, strict=True):
        mosaic.flat[cell] = shade
    while not mosaic.all():
        shade = rng.choice(SHADES)
        near = np.argwhere(grow(mosaic == shade, diagonal=False) & (mosaic == 0)).tolist()
        if near:
            mosaic[tuple(rng.choice(near))] = shade
    return mosaic


def verify(grid: Grid) -> Grid:
    (shift,) = np.flatnonzero(grid[:, 0] == MARK)
    return np.roll(grid[:, 1:], shift, axis=0)
