"""Of the five cells the first two change places, and so do the last two."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, colors


def generate(rng: Random) -> tuple[Grid, Grid]:
    first, second, middle, fourth, fifth = colors(rng, 5, without=())
    before, after = [first, second, middle, fourth, fifth], [second, first, middle, fifth, fourth]
    return np.array(before)[:, None], np.array(after)[:, None]


def verify(grid: Grid) -> Grid:
    return np.vstack([grid[1::-1], grid[2:3], grid[:2:-1]])
