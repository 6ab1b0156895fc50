"""The pieces, read from left to right, are hung below each other from a green hook. A bar hangs straight down below the
last cell; a corner piece lays its upper cell over the last cell and so takes the way one column to the side."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, objects

CAP = 76  # five pieces, two of them bars, three corners with two hands each: 80, less the official ones
RED, GREEN = 2, 3
PIECES = {0: ("2", "2"), 1: ("2.", "22"), -1: (".2", "22")}  # step to the side -> picture


def generate(rng: Random) -> tuple[Grid, Grid]:
    steps = [0, 0, *(rng.choice((-1, 1)) for _ in range(3))]
    rng.shuffle(steps)
    rows = [".".join(PIECES[step][row] for step in steps) for row in (0, 1)]
    before = np.array([[RED if cell == "2" else 0 for cell in row] for row in rows])
    after = canvas(8, 7)
    after[0, 3] = GREEN
    row, column = 1, 3
    for step in steps:
        after[row, column] = RED
        if step:
            column += step
        else:
            row += 1
        after[row, column] = RED
        row += 1
    return before, after


def verify(grid: Grid) -> Grid:
    output = canvas(8, 7)
    top, column = 0, 3  # the last cell drawn
    for piece in sorted(objects(grid), key=lambda piece: piece.left):
        if piece.width == 1:
            output[top + 1 : top + 3, column] = RED
            top += 2
            continue
        upper = int(np.flatnonzero(piece.mask[0])[0])
        first = column - upper
        output[top : top + 2, first : first + 2] |= piece.patch
        top += 1
        column = first + 1 - upper
    output[0, 3] = GREEN
    return output
