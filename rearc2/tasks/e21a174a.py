"""The order of the figures that are stacked on each other is reversed; each keeps its own form."""

from itertools import groupby
from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, colors, symmetric_shape


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(3, 6)
    half = rng.randint(3, 7)
    odd = rng.randint(0, 1)
    figures = []
    for color in colors(rng, count):
        figure = _figure(rng, 2 * rng.randint(min(2, half - 2), half - 1) + odd)
        margin = (2 * half + odd - figure.shape[1]) // 2
        figures.append(np.pad(figure * color, ((0, 0), (margin, margin))))
    if sum(len(figure) for figure in figures) > 20 or 2 * half + odd > 15:
        raise Retry
    border = ((1, 1), (0, 0))
    return np.pad(np.vstack(figures), border), np.pad(np.vstack(figures[::-1]), border)


def _figure(rng: Random, width: int) -> Mask:
    height = rng.randint(1, 4)
    figure = symmetric_shape(rng, height, width, rng.uniform(0.6, 1))
    if height == 1:
        return figure
    if rng.random() < 0.2 and height == 3:
        figure[:] = True
        figure[1, 1:-1] = False
    return figure


def verify(grid: Grid) -> Grid:
    output = np.zeros_like(grid)
    bands = [list(band) for _, band in groupby(grid[1:-1], key=lambda row: int(row.max()))]
    output[1:-1] = [row for band in reversed(bands) for row in band]
    return output
