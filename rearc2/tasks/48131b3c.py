"""Black and the other colour change places, and the result is laid out twice in each direction."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, colors, scatter


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(2, 8)
    (color,) = colors(rng, 1)
    pattern = scatter(rng, (side, side), rng.uniform(0.25, 0.6))
    if not pattern.any() or pattern.all():
        raise Retry
    return pattern * color, np.tile(~pattern * color, (2, 2))


def verify(grid: Grid) -> Grid:
    swapped = grid.max() - grid
    return np.block([[swapped, swapped], [swapped, swapped]])
