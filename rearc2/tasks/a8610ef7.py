"""Sky blue cells become red where the upside-down grid has sky blue too, and grey where it has not."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, scatter

SKY, RED, GREY = 8, 2, 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = 6, 6
    upper, lower = (scatter(rng, (height // 2, width), rng.uniform(0.45, 0.75)) for _ in range(2))
    both = upper & lower
    if not both.any() or not (upper ^ lower).any():
        raise Retry
    before, after = canvas(height, width), canvas(height, width)
    # Each half is drawn from the middle row outwards, the upper one through a view that is upside down.
    for half, mask in ((slice(2, None, -1), upper), (slice(3, None), lower)):
        before[half][mask] = SKY
        after[half][mask] = np.where(both, RED, GREY)[mask]
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    output[grid == SKY] = GREY
    output[(grid == SKY) & (grid[::-1] == SKY)] = RED
    return output
