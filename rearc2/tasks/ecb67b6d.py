"""Grey figures (connected over edges and corners) become sky blue if they hold three or more cells in a diagonal."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, flood, objects, scatter

ORANGE, GREY, SKY = 7, 5, 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    shape = rng.randint(4, 18), rng.randint(5, 20)
    grey = scatter(rng, shape, rng.uniform(0.22, 0.36))
    middles = np.zeros(shape, bool)  # of diagonal rows of three
    inner = grey[1:-1, 1:-1]
    middles[1:-1, 1:-1] = (grey[:-2, :-2] & inner & grey[2:, 2:]) | (grey[:-2, 2:] & inner & grey[2:, :-2])
    stairs = flood(grey, middles, diagonal=True)
    if not stairs.any() or not (grey & ~stairs).any():
        raise Retry
    before = np.where(grey, GREY, ORANGE)
    return before, np.where(stairs, SKY, before)


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for figure in objects(grid, background=ORANGE):
        cells = set(figure.cells)
        for row, column in figure.cells:
            if any({(row + 1, column + side), (row + 2, column + 2 * side)} <= cells for side in (-1, 1)):
                output[figure.slices][figure.mask] = SKY
    return output
