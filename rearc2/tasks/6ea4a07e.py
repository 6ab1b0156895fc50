"""Full and empty cells change places, and the colour changes: grey to yellow, sky blue to red, green to blue."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, scatter

SIDE = 3
NEW_COLOR = {5: 4, 8: 2, 3: 1}


def generate(rng: Random) -> tuple[Grid, Grid]:
    color = rng.choice(list(NEW_COLOR))
    full = scatter(rng, (SIDE, SIDE), rng.uniform(0.2, 0.8))
    if full.all() or not full.any():
        raise Retry
    return full * color, ~full * NEW_COLOR[color]


def verify(grid: Grid) -> Grid:
    return np.where(grid == 0, NEW_COLOR[int(grid.max())], 0)
