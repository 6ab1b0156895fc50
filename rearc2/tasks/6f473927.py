"""The grid is doubled on the side that the red figure touches: by its mirror image, with the figure empty and the rest
sky blue."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, paint, random_shape

FIGURE, REST = 2, 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(3, 15), rng.randint(3, 10)
    tall, wide = rng.randint(min(3, height), height), rng.randint(max(2, width - 3), width - 1)
    figure = random_shape(rng, tall, wide, rng.uniform(0.3, 0.6), diagonal=True)
    before = canvas(height, width)
    paint(
        before, figure, rng.randint(0, height - tall), width - wide, FIGURE
    )  # at the right side, not at the left
    mirrored = canvas(height, width, REST)
    mirrored[before[:, ::-1] == FIGURE] = 0
    after = np.hstack([before, mirrored])
    return (before, after) if rng.random() < 0.5 else (before[:, ::-1].copy(), after[:, ::-1].copy())


def verify(grid: Grid) -> Grid:
    image = np.where(np.fliplr(grid) == 0, REST, 0)
    parts = (grid, image) if grid[:, -1].any() else (image, grid)
    return np.concatenate(parts, axis=1)
