"""The number of green 2x2 squares, one to three, is the number of blue cells on the diagonal; single cells and red
squares do not count."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, fill, objects, place

GREEN, RED, COUNTER = 3, 2, 1


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(5, 9), rng.randint(5, 9)
    count = rng.choice([1, 2, 2, 3, 3, 3, 3, 3])  # more squares fit less often: the three come out about even
    pieces = [(GREEN, 2)] * count + [(RED, 2)] * rng.randint(0, 2)
    pieces += [(rng.choice([GREEN, RED]), 1) for _ in range(rng.randint(1, height * width // 6))]
    before = canvas(height, width)
    # Pieces may touch, but not along an edge if they have the same colour.
    sizes = [(size, size) for _, size in pieces]
    for (color, size), (top, left) in zip(pieces, place(rng, before.shape, sizes, gap=0), strict=True):
        fill(before, top, left, size, size, color)
    if len(objects(before, diagonal=False)) < len(pieces) or len(np.unique(before)) < 3:
        raise Retry
    after = canvas(3, 3)
    for number in range(count):
        after[number, number] = COUNTER
    return before, after


def verify(grid: Grid) -> Grid:
    green = grid == GREEN
    squares = green[1:, 1:] & green[:-1, 1:] & green[1:, :-1] & green[:-1, :-1]
    return np.diag(np.where(np.arange(3) < squares.sum(), COUNTER, 0))
