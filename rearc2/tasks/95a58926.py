"""A grey lattice is covered with noise of one colour. The noise goes away, the lattice is repaired, and its crossings
take the noise's colour."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, most_common, scatter

GREY = 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(12, 28), rng.randint(12, 28)
    room = rng.randint(3, 5)
    (noise,) = colors(rng, 1, without=(0, GREY))
    clean = canvas(height, width)
    clean[room :: room + 1] = clean[:, room :: room + 1] = GREY
    noisy = scatter(rng, (height, width), rng.uniform(0.07, 0.17))
    before, after = np.where(noisy, noise, clean), clean.copy()
    after[room :: room + 1, room :: room + 1] = noise
    lines = [*before[room :: room + 1], *before[:, room :: room + 1].T]
    if not noisy.any() or any((line != GREY).mean() > 0.4 for line in lines):
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    rows, columns = (grid == GREY).mean(axis=1) > 0.5, (grid == GREY).mean(axis=0) > 0.5
    output = canvas(*grid.shape)
    output[rows] = output[:, columns] = GREY
    output[np.ix_(rows, columns)] = most_common(grid, without=(0, GREY))
    return output
