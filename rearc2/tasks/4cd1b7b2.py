"""The black cells of a Latin square are filled in: every row and every column holds each of the four colours once."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry

COLORS = {1, 2, 3, 4}


def generate(rng: Random) -> tuple[Grid, Grid]:
    # All Latin squares of order 4 are one of these two, up to the order of rows, columns and colours.
    square = rng.choice([np.add, np.bitwise_xor]).outer(np.arange(4), np.arange(4)) % 4
    after = np.array(rng.sample(sorted(COLORS), 4))[square]
    after = after[rng.sample(range(4), 4)][:, rng.sample(range(4), 4)]
    before = after.copy()
    count = rng.randint(4, 8)
    for row, column in rng.sample([(r, c) for r in range(4) for c in range(4)], 16):
        # A cell is taken away only where the rest of its row and column still tells its colour.
        others = set(np.delete(before[row], column).tolist()) | set(
            np.delete(before[:, column], row).tolist()
        )
        if len(others - {0}) == 3 and (before == 0).sum() < count:
            before[row, column] = 0
    if set(before.ravel().tolist()) != {0, *COLORS}:
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    while (output == 0).any():
        for row, column in np.argwhere(output == 0):
            left = COLORS - set(output[row].tolist()) - set(output[:, column].tolist())
            if len(left) == 1:
                output[row, column] = left.pop()
    return output
