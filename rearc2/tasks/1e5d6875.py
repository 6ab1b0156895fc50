"""Every corner piece casts a copy of itself, one step along its diagonal: a grey one a yellow copy towards its open
side, a red one a green copy to the other side. Green covers yellow."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, mostly, objects, paint, place

GROUND, GREY, RED = 7, 5, 2
COPY = {GREY: 4, RED: 3}


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = mostly(rng, 8, 10, 20)
    count = rng.randint(max(3, side * side // 30), side * side // 15)
    pieces = sorted(rng.choices([GREY, RED], k=count), reverse=True)  # grey before red: green covers yellow
    if len(set(pieces)) < 2:
        raise Retry
    before, after = canvas(side, side, GROUND), canvas(side, side, GROUND)
    for color, (top, left) in zip(pieces, place(rng, before.shape, [(2, 2)] * count), strict=True):
        open_row, open_column = rng.randrange(2), rng.randrange(2)
        piece = np.ones((2, 2), bool)
        piece[open_row, open_column] = False
        down, right = (1 if open_row else -1), (1 if open_column else -1)
        sign = 1 if color == GREY else -1
        paint(before, piece, top, left, color)
        paint(after, piece, top + sign * down, left + sign * right, COPY[color])
    # No copy reaches another piece, only its own.
    return before, np.where(before == GROUND, after, before)


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for color, sign in ((GREY, 1), (RED, -1)):
        for piece in objects(np.where(grid == color, color, 0)):
            ((row, column),) = np.argwhere(~piece.mask).tolist()
            top, left = piece.top + sign * (2 * row - 1), piece.left + sign * (2 * column - 1)
            paint(output, piece.mask, top, left, COPY[color])
    return np.where(grid == GROUND, output, grid)
