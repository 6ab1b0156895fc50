"""The four quarters are laid over each other; where several have a cell, the order from the top is green, maroon, sky
blue, yellow."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, scatter

COLORS = ((4, 3), (9, 8))  # of the quarters
ORDER = (3, 9, 8, 4)
SIDE = 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    density = rng.uniform(0.4, 0.6)
    layers = {color: scatter(rng, (SIDE, SIDE), density) for color in ORDER}
    after = np.zeros((SIDE, SIDE), np.int64)
    for color in reversed(ORDER):
        after[layers[color]] = color
    return np.block([[layers[color] * color for color in row] for row in COLORS]), after


def verify(grid: Grid) -> Grid:
    quarters = [part for half in np.split(grid, 2) for part in np.split(half, 2, axis=1)]
    yellow, green, maroon, sky_blue = quarters
    return np.select([green > 0, maroon > 0, sky_blue > 0], [green, maroon, sky_blue], yellow)
