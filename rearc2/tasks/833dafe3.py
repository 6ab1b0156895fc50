"""The square becomes the bottom right quarter of a picture that is symmetric left-right and up-down."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, colors, line, mostly, random_cells, symmetries


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = mostly(rng, 3, 5, 12)
    palette = colors(rng, 3)
    square = random_cells(rng, (side, side), [0, 0, 0, *palette])
    if rng.random() < 0.5:
        # Strokes on empty ground in place of noise.
        square[:] = 0
        for _ in range(rng.randint(side, 2 * side)):
            row, column, end = rng.randrange(side), rng.randrange(side), rng.randrange(side)
            line(square, (row, column), rng.choice([(row, end), (end, column)]), rng.choice(palette))
    images = symmetries(square)[1:]
    if len(set(square.ravel().tolist())) < 4 or any((image == square).all() for image in images):
        raise Retry
    right = np.vstack([square[::-1], square])
    return square, np.hstack([right[:, ::-1], right])


def verify(grid: Grid) -> Grid:
    side = len(grid)
    # Distances from the middle, from both sides: ..., 1, 0, 0, 1, ...
    index = np.concatenate([np.arange(side)[::-1], np.arange(side)])
    return grid[np.ix_(index, index)]
