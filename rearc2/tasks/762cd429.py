"""The 2x2 block at the left is repeated to the right, twice as large each time, on the same middle line, until the
picture is full."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, crop, paint, random_cells, upscale


def generate(rng: Random) -> tuple[Grid, Grid]:
    block = random_cells(rng, (2, 2), colors(rng, rng.randint(2, 4)))
    if (block == block[0, 0]).all():
        raise Retry
    # 2 + 4 + 8 (+ 16) columns; the height leaves room for the largest copy.
    width, copies = rng.choice([(14, 3), (30, 4)])
    middle = rng.randint(2 ** (copies - 1), 15 if copies == 4 else 9)
    before, after = canvas(2 * middle, width), canvas(2 * middle, width)
    paint(before, block, middle - 1, 0)
    left = 0
    for scale in (1, 2, 4, 8)[:copies]:
        paint(after, upscale(block, scale), middle - scale, left)
        left += 2 * scale
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    copy = crop(grid)
    middle = int(np.flatnonzero(grid[:, 0])[1])
    left = 2
    while left < grid.shape[1]:
        copy = np.kron(copy, np.ones((2, 2), np.int64))
        half = len(copy) // 2
        output[middle - half : middle + half, left : left + len(copy)] = copy
        left += len(copy)
    return output
