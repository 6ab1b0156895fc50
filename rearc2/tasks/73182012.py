"""The answer is the top left quarter of the symmetric figure."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, crop, paint, random_cells, scatter


def generate(rng: Random) -> tuple[Grid, Grid]:
    palette = colors(rng, rng.randint(2, 6))
    quarter = random_cells(rng, (4, 4), palette)
    quarter[scatter(rng, (4, 4), rng.uniform(0.1, 0.5))] = 0
    # The figure has all eight symmetries, so its quarter is symmetric about the diagonal.
    quarter = np.triu(quarter) + np.triu(quarter, 1).T
    if not quarter[0].any() or len(set(quarter.ravel().tolist()) - {0}) < 2:
        raise Retry
    half = np.hstack([quarter, quarter[:, ::-1]])
    grid = canvas(12, 12)
    paint(grid, np.vstack([half, half[::-1]]), rng.randint(0, 4), rng.randint(0, 4))
    return grid, quarter


def verify(grid: Grid) -> Grid:
    figure = crop(grid)
    return figure[: figure.shape[0] // 2, : figure.shape[1] // 2]
