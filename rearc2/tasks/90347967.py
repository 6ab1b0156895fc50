"""The figure makes half a turn around its grey cell."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, random_shape

PIVOT = 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(3, 12), rng.randint(3, 12)
    tall, wide = rng.randint(2, min(5, height // 2 + 1)), rng.randint(2, min(5, width // 2 + 1))
    shape = random_shape(rng, tall, wide, rng.uniform(0.4, 0.8), diagonal=True)
    if shape.sum() < 4:
        raise Retry
    cells = np.argwhere(shape)
    pivot = cells[rng.randrange(len(cells))]
    around = 2 * pivot - cells  # the image, in the same frame as the cells
    if sum(cell in cells.tolist() for cell in around.tolist()) > 1:  # only the pivot is its own image
        raise Retry
    low, high = np.minimum(cells, around).min(axis=0), np.maximum(cells, around).max(axis=0)
    slack = np.array([height, width]) - 1 - (high - low)
    if slack.min() < 0:
        raise Retry
    corner = np.array([rng.randint(0, int(slack[0])), rng.randint(0, int(slack[1]))]) - low
    palette = rng.sample([1, 2, 3, 4, 6, 7, 8, 9], rng.randint(2, 4))
    before, after = canvas(height, width), canvas(height, width)
    for place, image in zip((cells + corner).tolist(), (around + corner).tolist(), strict=True):
        before[tuple(place)] = after[tuple(image)] = rng.choice(palette)
    before[tuple(pivot + corner)] = after[tuple(pivot + corner)] = PIVOT
    return before, after


def verify(grid: Grid) -> Grid:
    (row,), (column,) = np.nonzero(grid == PIVOT)
    rows, columns = np.nonzero(grid)
    output = np.zeros_like(grid)
    output[2 * row - rows, 2 * column - columns] = grid[rows, columns]
    return output
