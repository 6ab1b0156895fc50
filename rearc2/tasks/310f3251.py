"""The pattern gets a red cell diagonally up and left of every coloured cell, around the edges as on a torus and
only where it is black, and is then tiled three by three."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors

RED = 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.choice([2, 3, 4, 4, 5, 5, 6, 7, 8])
    (color,) = colors(rng, 1, without=(0, RED))
    tile = canvas(side, side)
    # The top row stays free: no official pattern shows what happens above it.
    free = [(r, c) for r in range(1, side) for c in range(side)]
    cells = rng.sample(free, min(len(free), rng.choice([1, 2, 2, 3, 4] if side > 3 else [1, 2])))
    for r, c in cells:
        tile[r, c] = color
    before = tile.copy()
    for r, c in cells:
        if not before[r - 1, c - 1]:
            tile[r - 1, c - 1] = RED
    if RED not in tile or (tile == 0).mean() < 0.45:
        raise Retry
    return before, np.tile(tile, (3, 3))


def verify(grid: Grid) -> Grid:
    tiled = np.tile(grid, (3, 3))
    shifted = np.roll(tiled, (-1, -1), axis=(0, 1))
    return np.where((shifted != 0) & (tiled == 0), RED, tiled)
