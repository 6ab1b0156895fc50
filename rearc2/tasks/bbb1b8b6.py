"""If the coloured shape on the right fills exactly the black cells of the blue pattern on the left, the two are laid
over each other; otherwise the output is the blue pattern alone."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, colors, join, random_shape, split

BLUE, WALL = 1, 5
SIDE = 4


def generate(rng: Random) -> tuple[Grid, Grid]:
    free = _shape(rng)
    fits = rng.random() < 0.5
    other = free if fits else np.roll(free, (rng.randint(-1, 1), rng.randint(-1, 1)), axis=(0, 1))
    if not fits and rng.random() < 0.5:
        other = _shape(rng)
    # A shape that does not fit covers some blue: one that left a part of the black cells would be another question.
    if fits == bool((other & ~free).any()):
        raise Retry
    (color,) = colors(rng, 1, without=(0, BLUE, WALL))
    pattern, piece = np.where(free, 0, BLUE), np.where(other, color, 0)
    return join([[pattern, piece]], WALL), np.where(free, color, BLUE) if fits else pattern


def _shape(rng: Random) -> Mask:
    """One shape anywhere in the panel, sometimes two."""
    mask = canvas(SIDE, SIDE) > 0
    for _ in range(rng.choice([1, 1, 2])):
        height, width = rng.randint(2, SIDE), rng.randint(2, SIDE)
        top, left = rng.randint(0, SIDE - height), rng.randint(0, SIDE - width)
        mask[top : top + height, left : left + width] |= random_shape(rng, height, width, rng.uniform(0.4, 1))
    if not 4 <= mask.sum() <= 12:
        raise Retry
    return mask


def verify(grid: Grid) -> Grid:
    ((pattern, piece),) = split(grid, WALL)
    fits = ((pattern == 0) == (piece != 0)).all()
    return pattern + piece if fits else pattern.copy()


def rival_overlap(grid: Grid) -> Grid:
    """The two are laid over each other if they do not overlap."""
    ((pattern, piece),) = split(grid, WALL)
    return pattern.copy() if ((pattern != 0) & (piece != 0)).any() else pattern + piece
