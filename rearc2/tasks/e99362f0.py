"""The four panels are laid over each other; where several have a cell, the order from the top is sky blue, orange,
maroon, red."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, join, scatter, split

LINE = 4
COLORS = ((7, 9), (2, 8))  # of the panels
ORDER = (8, 7, 9, 2)
SHAPE = (5, 4)


def generate(rng: Random) -> tuple[Grid, Grid]:
    density = rng.uniform(0.4, 0.65)
    layers = {color: scatter(rng, SHAPE, density) for color in ORDER}
    after = np.zeros(SHAPE, np.int64)
    for color in reversed(ORDER):
        after[layers[color]] = color
    return join([[layers[color] * color for color in row] for row in COLORS], LINE), after


def verify(grid: Grid) -> Grid:
    panels = np.array([panel for row in split(grid, LINE) for panel in row])
    rank = np.zeros(10, np.int64)
    rank[list(ORDER)] = (4, 3, 2, 1)
    highest = rank[panels].argmax(axis=0)
    return np.take_along_axis(panels, highest[None], axis=0)[0]
