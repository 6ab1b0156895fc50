"""The blue figure is copied once for each of the other cells, in its colour; the copies follow each other in the
direction in which the cells do."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, crop, paint, place, random_shape

BLUE = 1


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(9, 14), rng.randint(9, 14)
    palette = colors(rng, rng.randint(2, 5), without=(0, BLUE))
    length = 2 * len(palette) - 1
    across = rng.random() < 0.5
    figure = random_shape(rng, 3, 3, rng.uniform(0.3, 0.6), diagonal=True)
    if figure.all():
        raise Retry
    (top, left), (row, column) = place(rng, (height, width), [(3, 3), (1, length) if across else (length, 1)])
    before = canvas(height, width)
    paint(before, figure, top, left, BLUE)
    after = canvas(3, 3 * len(palette)) if across else canvas(3 * len(palette), 3)
    for number, color in enumerate(palette):
        down, right = (0, number) if across else (number, 0)
        before[row + 2 * down, column + 2 * right] = color
        paint(after, figure, 3 * down, 3 * right, color)
    return before, after


def verify(grid: Grid) -> Grid:
    figure = crop(grid, grid == BLUE) == BLUE
    cells = np.argwhere(grid > BLUE)  # in reading order
    copies = [np.where(figure, grid[r, c], 0) for r, c in cells]
    return np.hstack(copies) if cells[0, 0] == cells[-1, 0] else np.vstack(copies)
