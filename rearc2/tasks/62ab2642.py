"""Grey lines divide the grid into regions (joined over edges): the largest becomes sky blue, the smallest orange."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, label

LINE, LARGEST, SMALLEST = 5, 8, 7


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(5, 20), rng.randint(5, 20)
    walls = np.zeros((height, width), bool)
    for _ in range(rng.randint(8, 60)):
        _walk(rng, walls)
    regions, count = label(~walls, diagonal=False)
    if count < 4:
        raise Retry
    sizes = np.bincount(regions[regions > 0])[1:]
    ordered = np.sort(sizes)
    if ordered[0] == ordered[1] or ordered[-1] == ordered[-2]:
        raise Retry
    before = canvas(height, width)
    before[walls] = LINE
    after = before.copy()
    after[regions == sizes.argmax() + 1] = LARGEST
    after[regions == sizes.argmin() + 1] = SMALLEST
    return before, after


def _walk(rng: Random, walls: Mask) -> None:
    """A line with bends from the border to an older line (the first one: to the border), if there is room for it."""
    height, width = walls.shape
    if rng.random() < 0.5:
        (row, down), column, right = rng.choice([(0, 1), (height - 1, -1)]), rng.randrange(width), 0
    else:
        (column, right), row, down = rng.choice([(0, 1), (width - 1, -1)]), rng.randrange(height), 0
    drawn = walls.copy()
    while 0 <= row < height and 0 <= column < width and not drawn[row, column]:
        drawn[row, column] = True
        if rng.random() < 0.25:
            down, right = rng.choice([(right, down), (-right, -down)])
        row, column = row + down, column + right
    inside = 0 <= row < height and 0 <= column < width
    joined = not inside if not walls.any() else inside and walls[row, column]
    a, b, c, d = drawn[:-1, :-1], drawn[:-1, 1:], drawn[1:, :-1], drawn[1:, 1:]
    # Lines are one cell thick and do not meet at corners, so that regions over edges and over corners are the same.
    if joined and not ((a & b & c & d) | (a & d & ~b & ~c) | (b & c & ~a & ~d)).any():
        walls[...] = drawn


def verify(grid: Grid) -> Grid:
    regions, count = label(grid == 0, diagonal=False)
    order = sorted(range(1, count + 1), key=lambda number: int((regions == number).sum()))
    output = grid.copy()
    output[regions == order[0]] = SMALLEST
    output[regions == order[-1]] = LARGEST
    return output
