"""Four layers, grey, yellow, red and sky blue from top to bottom, are laid over one another: grey covers yellow, yellow
covers sky blue, and sky blue covers red."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, scatter

LAYERS = (5, 4, 2, 8)  # as they follow in the input
COVERING = (2, 8, 4, 5)  # each covers the ones before it
SHAPE = (3, 6)


def generate(rng: Random) -> tuple[Grid, Grid]:
    layers = {color: scatter(rng, SHAPE, rng.uniform(0.35, 0.7)) for color in LAYERS}
    before = np.vstack([layers[color] * color for color in LAYERS])
    after = np.zeros(SHAPE, np.int64)
    for color in COVERING:
        after[layers[color]] = color
    return before, after


def verify(grid: Grid) -> Grid:
    grey, yellow, red, sky = np.vsplit(grid, len(LAYERS))
    return np.where(grey > 0, grey, np.where(yellow > 0, yellow, np.where(sky > 0, sky, red)))
