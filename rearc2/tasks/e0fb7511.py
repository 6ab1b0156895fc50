"""Black cells that touch another black cell over an edge turn sky blue; lone ones stay."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, objects, scatter

BLACK, GROUND, JOINED = 0, 1, 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    black = scatter(rng, (13, 13), rng.uniform(0.15, 0.35))
    framed = np.pad(black, 1)
    neighbour = framed[:-2, 1:-1] | framed[2:, 1:-1] | framed[1:-1, :-2] | framed[1:-1, 2:]
    joined = black & neighbour
    if not joined.any() or (joined == black).all():
        raise Retry
    before = np.where(black, BLACK, GROUND)
    return before, np.where(joined, JOINED, before)


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for thing in objects(grid, background=GROUND, diagonal=False):
        if thing.size > 1:
            output[thing.slices][thing.mask] = JOINED
    return output
