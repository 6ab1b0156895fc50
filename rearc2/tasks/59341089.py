"""Four copies side by side: mirrored left to right, as it is, mirrored, as it is."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, random_cells

PALETTE = (5, 7, 8)


def generate(rng: Random) -> tuple[Grid, Grid]:
    before = random_cells(rng, (3, 3), PALETTE)
    if (before == before[:, ::-1]).all():
        raise Retry
    after = canvas(3, 12)
    for copy in range(4):
        for column in range(3):
            after[:, 3 * copy + column] = before[:, column if copy % 2 else 2 - column]
    return before, after


def verify(grid: Grid) -> Grid:
    return np.tile(np.hstack([np.fliplr(grid), grid]), 2)
