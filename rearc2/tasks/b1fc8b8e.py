"""The figure consists of four equal pieces, either 2x2 squares or corners of three cells. The answer shows the four
pieces apart, in two rows."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, label, paint, spots

COLOR = 8
PIECES = [np.array([[1, 1], [1, 1]], bool), np.array([[0, 1], [1, 1]], bool)]


def generate(rng: Random) -> tuple[Grid, Grid]:
    piece = rng.choice(PIECES)
    figure = np.zeros((6, 6), bool)
    for _ in range(4):
        choices = [
            (r, c)
            for r, c in spots(np.zeros_like(figure), 2, 2).tolist()
            if not (figure[r : r + 2, c : c + 2] & piece).any()
        ]
        if not choices:
            raise Retry
        top, left = rng.choice(choices)
        figure[top : top + 2, left : left + 2] |= piece
    if label(figure)[1] > 1:
        raise Retry
    before, after = canvas(6, 6), canvas(5, 5)
    paint(before, figure, 0, 0, COLOR)
    for top in (0, 3):
        for left in (0, 3):
            paint(after, piece, top, left, COLOR)
    return before, after


def verify(grid: Grid) -> Grid:
    (piece,) = [piece for piece in PIECES if _consists_of(grid == COLOR, piece)]
    output = np.zeros((5, 5), np.int64)
    output[np.ix_([0, 1, 3, 4], [0, 1, 3, 4])] = np.tile(piece, (2, 2)) * COLOR
    return output


def _consists_of(figure: Mask, piece: Mask) -> bool:
    """Whether the figure can be taken apart: its first cell in reading order must be a piece's first cell."""
    left = np.pad(figure, 1)
    shift = int(piece[0].argmax())
    while left.any():
        row, column = np.argwhere(left)[0]
        part = left[row : row + 2, column - shift : column - shift + 2]
        if part.shape != piece.shape or not part[piece].all():
            return False
        part[piece] = False
    return True
