"""The picture is sheared: the last row stays, and every row above is one cell further to the right than the next."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, random_cells


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(2, 11), rng.randint(1, 10)
    palette = colors(rng, rng.randint(3, 5))
    look = rng.choice(["stripes", "diagonals", "blocks", "noise"])
    rows, columns = np.indices((height, width))
    if look == "stripes":
        bands = sorted(rng.randrange(len(palette)) for _ in range(height))
        before = np.array([[palette[band]] * width for band in bands])
        if width > 1:
            before[:, : rng.randint(1, width - 1)] = rng.choice(palette)
    elif look == "diagonals":
        before = np.array(palette)[(rows + rng.choice([1, -1]) * columns) // rng.randint(1, 3) % len(palette)]
    elif look == "blocks":
        size = rng.randint(1, 4)
        coarse = random_cells(rng, (height // size + 1, width // size + 1), palette)
        before = coarse.repeat(size, axis=0).repeat(size, axis=1)[:height, :width]
    else:
        before = random_cells(rng, (height, width), palette)
    if len(np.unique(before)) < 2:
        raise Retry
    after = canvas(height, width + height - 1)
    for row in range(height):
        after[row, height - 1 - row :][:width] = before[row]
    return before, after


def verify(grid: Grid) -> Grid:
    height, width = grid.shape
    row, column = np.indices((height, width + height - 1))
    source = column - (height - 1 - row)
    inside = (source >= 0) & (source < width)
    return np.where(inside, grid[row, np.clip(source, 0, width - 1)], 0)
