"""The T pieces are counted: those that point up are shown as green dots on the left, those that point down as blue
dots on the right. Two dots stand one above the other, three leave the lower right corner free."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, grow, objects, paint

PIECE, UP, DOWN = 2, 3, 1
POINTING_UP = np.array([[0, 1, 0], [1, 1, 1]], bool)
DOTS = {
    1: [(0, 0)],
    2: [(0, 0), (2, 0)],
    3: [(0, 0), (0, 2), (2, 0)],
    4: [(0, 0), (0, 2), (2, 0), (2, 2)],
}


def generate(rng: Random) -> tuple[Grid, Grid]:
    ups, downs = rng.randint(1, 4), rng.randint(1, 4)
    pieces = [POINTING_UP] * ups + [POINTING_UP[::-1]] * downs
    smallest = 3 + len(pieces) // 2
    largest = min(15, rng.randint(smallest + 1, 20))
    height, width = rng.randint(smallest, largest), rng.randint(smallest, largest)
    before = canvas(height, width)
    for piece in pieces:
        near = grow(before > 0, diagonal=False)  # pieces may touch at corners
        free = [
            (top, left)
            for top in range(height - 1)
            for left in range(width - 2)
            if not near[top : top + 2, left : left + 3][piece].any()
        ]
        if not free:
            raise Retry
        paint(before, piece, *rng.choice(free), PIECE)
    after = canvas(3, 6)
    for count, left, color in ((ups, 0, UP), (downs, 3, DOWN)):
        for row, column in DOTS[count]:
            after[row, left + column] = color
    return before, after


def verify(grid: Grid) -> Grid:
    pieces = objects(grid, diagonal=False)  # pieces may touch at corners
    ups = sum(int(piece.mask[1].all()) for piece in pieces)
    output = canvas(3, 6)
    for row, column in DOTS[ups]:
        output[row, column] = UP
    for row, column in DOTS[len(pieces) - ups]:
        output[row, column + 3] = DOWN
    return output
