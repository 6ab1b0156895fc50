"""The square is set in a larger one with its turned images: a quarter turn to the left beside it, a half turn below
it, a quarter turn to the right in the last corner."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, colors, random_cells, symmetries

SIDE = 4


def generate(rng: Random) -> tuple[Grid, Grid]:
    square = random_cells(rng, (SIDE, SIDE), colors(rng, 4))
    # Every symmetry would hide which turn is meant.
    if (
        any((image == square).all() for image in symmetries(square)[1:])
        or len(set(square.ravel().tolist())) < 4
    ):
        raise Retry
    corners = [[square, np.rot90(square)], [np.rot90(square, 2), np.rot90(square, 3)]]
    return square, np.block(corners)


def verify(grid: Grid) -> Grid:
    side = len(grid)
    output = np.zeros((2 * side, 2 * side), np.int64)
    output[:side, :side] = grid
    output[:side, side:] = grid[:, ::-1].T
    output[side:, :side] = grid[::-1, ::-1]
    output[side:, side:] = grid[::-1].T
    return output
