"""A cell is red where the left panel or the right panel, beside the yellow line, has a cell."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, join, scatter

LINE, LEFT, RIGHT, RED = 4, 6, 8, 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    left, right = (scatter(rng, (3, 3), rng.uniform(0.3, 0.65)) for _ in range(2))
    after = canvas(3, 3)
    after[left] = after[right] = RED
    if not left.any() or not right.any() or after.all() or left.sum() + right.sum() > 11:
        raise Retry
    return join([[left * LEFT, right * RIGHT]], LINE), after


def verify(grid: Grid) -> Grid:
    return np.where((grid[:, :3] == LEFT) | (grid[:, 4:] == RIGHT), RED, 0)
