"""In the noise there are some large rectangles of one colour: they turn yellow."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, fill, place, random_cells

SIDE, YELLOW = 30, 4
NOISE = [1, 2, 3, 6, 8]
LEAST = 4  # rows and columns of a rectangle


def generate(rng: Random) -> tuple[Grid, Grid]:
    palette = [color for color in NOISE for _ in range(rng.randint(3, 7))]
    before = random_cells(rng, (SIDE, SIDE), palette)
    sizes = [(rng.randint(LEAST, 7), rng.randint(5, 10)) for _ in range(rng.randint(2, 5))]
    if rng.random() < 0.3:
        sizes = [(width, height) for height, width in sizes]
    cover = canvas(SIDE, SIDE)
    for (height, width), (top, left) in zip(sizes, place(rng, before.shape, sizes, gap=2), strict=True):
        fill(before, top, left, height, width, rng.choice(NOISE))
        fill(cover, top, left, height, width, 1)
    # The noise around a rectangle must not make it look larger, nor form another one.
    if _even(before, LEAST).sum() != sum(
        (height - LEAST + 1) * (width - LEAST + 1) for height, width in sizes
    ):
        raise Retry
    return before, np.where(cover == 1, YELLOW, before)


def _even(grid: Grid, side: int) -> Mask:
    """Which squares of that side, by their top left corner, have one colour."""
    windows = np.lib.stride_tricks.sliding_window_view(grid, (side, side))
    return np.asarray(windows.min(axis=(2, 3)) == windows.max(axis=(2, 3)))


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for row in range(SIDE - LEAST + 1):
        for column in range(SIDE - LEAST + 1):
            square = slice(row, row + LEAST), slice(column, column + LEAST)
            if (grid[square] == grid[row, column]).all():
                output[square] = YELLOW
    return output
