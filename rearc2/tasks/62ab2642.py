"""Grey lines divide the grid into regions (joined over edges): the largest becomes sky blue, the smallest orange."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, label

LINE, LARGEST, SMALLEST = 5, 8, 7


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(5, 18), rng.randint(5, 18)
    walls = np.zeros((height, width), bool)
    for _ in range(rng.randint(4, 10) * (height + width) // 4):
        _walk(rng, walls)
    if walls.mean() > 0.45:
        raise Retry
    regions, count = label(~walls, diagonal=False)
    sizes = np.bincount(regions[regions > 0])[1:]
    smallest, *_, second, largest = np.sort(sizes) if count > 3 else (0, 0, 0)
    if (sizes == smallest).sum() > 1 or second == largest or largest > 0.35 * height * width:
        raise Retry
    before = canvas(height, width)
    before[walls] = LINE
    after = before.copy()
    after[regions == sizes.argmax() + 1] = LARGEST
    after[regions == sizes.argmin() + 1] = SMALLEST
    return before, after


def _walk(rng: Random, walls: Mask) -> None:
    """A line with bends from an older line (the first one: from the border) to another or to the border, if it fits."""
    height, width = walls.shape
    down, right = rng.choice([(-1, 0), (1, 0), (0, -1), (0, 1)])
    if walls.any():
        row, column = rng.choice(np.argwhere(walls).tolist())
        row, column = row + down, column + right
    else:
        row, column = rng.randrange(height) if right else 0, rng.randrange(width) if down else 0
        down, right = abs(down), abs(right)
    drawn = walls.copy()
    length = 0
    while 0 <= row < height and 0 <= column < width and not drawn[row, column]:
        drawn[row, column] = True
        length += 1
        if rng.random() < 0.2:
            down, right = rng.choice([(right, down), (-right, -down)])
        row, column = row + down, column + right
    inside = 0 <= row < height and 0 <= column < width
    joined = length > 1 and (not inside or walls[row, column])
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
