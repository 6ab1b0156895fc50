"""Two black lines press the grey figure between them together: they move next to the middle, and the grey cells become
a bar of as many cells, centred between them."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, mostly, paint, symmetric_shape

FLOOR, BLACK, GREY = 7, 0, 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    half = mostly(rng, 4, 6, 14)
    side = 2 * half + 1
    distance = rng.randint(2, max(2, half - 3))  # of the two lines from the middle
    thickness = 2 * distance - 1
    figure = symmetric_shape(
        rng, thickness, rng.choice([3, 5, 5, 7, 7, 9]), rng.uniform(0.1, 0.7), flips="lr"
    )
    count = int(figure.sum())
    if count % 2 == 0 or count > side or figure.shape[1] > side - 2:
        raise Retry
    # Drawn with horizontal lines, sometimes turned.
    before = _board(half, distance)
    paint(before, figure, half - distance + 1, half - figure.shape[1] // 2, GREY)
    after = _board(half, 1)
    after[half, half - count // 2 : half + count // 2 + 1] = GREY
    turns = rng.randrange(4)
    return np.rot90(before, turns), np.rot90(after, turns)


def _board(half: int, distance: int) -> Grid:
    """A line down the middle, and two across it that leave a free band between them."""
    board = canvas(2 * half + 1, 2 * half + 1, FLOOR)
    board[:, half] = BLACK
    board[half - distance + 1 : half + distance] = FLOOR
    board[half - distance] = board[half + distance] = BLACK
    return board


def verify(grid: Grid) -> Grid:
    across = (grid == BLACK).all(axis=1).sum() == 2
    upright = grid if across else grid.T
    middle, count = grid.shape[0] // 2, int((grid == GREY).sum())
    output = np.full_like(upright, FLOOR)
    output[:, middle] = BLACK
    output[middle - 1 : middle + 2] = np.array([[BLACK], [FLOOR], [BLACK]])
    output[middle, middle - count // 2 :][:count] = GREY
    return output if across else output.T
