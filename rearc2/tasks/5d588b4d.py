"""The bar of length n becomes runs of 1, 2, ..., n, ..., 2, 1 cells with one black cell between them, written line by
line in the width of the grid, on as many lines as they need."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors


def generate(rng: Random) -> tuple[Grid, Grid]:
    length = rng.randint(2, 9)
    width = rng.randint(length + 1, rng.choice([length + 4, 26]))
    (color,) = colors(rng, 1)
    runs = [*range(1, length), *range(length, 0, -1)]
    cells = [cell for run in runs for cell in [color] * run + [0]][:-1]
    height = -(-len(cells) // width)
    rows = height if height > 4 and rng.random() < 0.2 else max(height, rng.randint(7, 13))
    if rows > 20:
        raise Retry
    before = canvas(rows, width)
    before[0, :length] = color
    after = canvas(height, width)
    after.flat[: len(cells)] = cells
    return before, after


def verify(grid: Grid) -> Grid:
    width = grid.shape[1]
    length, color = int(np.count_nonzero(grid)), int(grid.max())
    text = ".".join("#" * (length - abs(length - number)) for number in range(1, 2 * length))
    text += "." * (-len(text) % width)
    return np.array([color if sign == "#" else 0 for sign in text]).reshape(-1, width)
