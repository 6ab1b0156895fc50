"""A square of n x n tiles, each n x n, with gaps between them: the tile in row r and column c has its hole at (r, c).
All missing tiles are added."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, retrying, symmetries


def generate(rng: Random) -> tuple[Grid, Grid]:
    size = rng.choice([2, 3, 3, 3, 3, 4, 4, 5])
    return retrying(lambda: _draw(rng, size))


def _draw(rng: Random, size: int) -> tuple[Grid, Grid]:
    side = size * size + size - 1
    (color,) = colors(rng, 1)
    before, after = canvas(side, side), canvas(side, side)
    share = rng.uniform(0.3, 0.7)
    shown = np.zeros((size, size), bool)
    for row in range(size):
        for column in range(size):
            tile = canvas(size, size, color)
            tile[row, column] = 0
            top, left = row * (size + 1), column * (size + 1)
            part = slice(top, top + size), slice(left, left + size)
            after[part] = tile
            shown[row, column] = rng.random() < share
            if shown[row, column]:
                before[part] = tile
    # Every tile must also be the image of a shown one, so that the symmetry of the whole tells the same.
    if shown.all() or not np.any(symmetries(shown), axis=0).all():
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    size = next(size for size in range(2, 6) if size * size + size - 1 == len(grid))
    place = np.arange(len(grid))
    tile, inside = np.divmod(
        place, size + 1
    )  # which tile, and which cell of it; the cell after the last is the gap
    gap, hole = inside == size, inside == tile
    return np.where(np.logical_or.outer(gap, gap) | np.logical_and.outer(hole, hole), 0, grid.max())


def rival_symmetry(grid: Grid) -> Grid:
    """The whole is completed by turning and mirroring."""
    return np.maximum.reduce(symmetries(grid))
