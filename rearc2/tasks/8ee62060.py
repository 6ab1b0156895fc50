"""The blocks of 2x2 cells go from one diagonal of the grid over to the other; each keeps its own look."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, colors


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(3, 9)
    pair = colors(rng, 2)
    block = np.array([rng.choice([0, *pair, *pair]) for _ in range(4)]).reshape(2, 2)
    if not set(pair) <= set(block.ravel().tolist()):
        raise Retry
    # A block with an empty row or column would not show where it begins and ends.
    if not (block.any(axis=0).all() and block.any(axis=1).all()):
        raise Retry
    # A block that is its own mirror image would not show that it keeps its look.
    if (block == block[::-1]).all() or (block == block[:, ::-1]).all():
        raise Retry
    falling = np.kron(np.eye(count, dtype=int), block)
    rising = np.kron(np.eye(count, dtype=int)[::-1], block)
    return (falling, rising) if rng.random() < 0.5 else (rising, falling)


def verify(grid: Grid) -> Grid:
    columns = [grid[:, left : left + 2] for left in range(0, grid.shape[1], 2)]
    return np.hstack(columns[::-1])
