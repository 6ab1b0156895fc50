"""Every grey cell becomes a 2x2 chequer of blue and red."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, scatter, upscale

GREY = 5
CHEQUER = np.array([[1, 2], [2, 1]])
CAP = 507  # of 512 patterns: not the empty one, and not the official ones
EXCEPTIONS = {
    "hard: in objects": "nearly all patterns of 3x3 cells that exist are made; few of them have three pieces or more",
}


def generate(rng: Random) -> tuple[Grid, Grid]:
    cells = scatter(rng, (3, 3), 0.5)
    if not cells.any():
        raise Retry
    return np.where(cells, GREY, 0), np.kron(cells, CHEQUER)


def verify(grid: Grid) -> Grid:
    rows, columns = np.indices((6, 6))
    chequer = 1 + (rows + columns) % 2
    return np.where(upscale(grid, 2) == GREY, chequer, canvas(6, 6))
