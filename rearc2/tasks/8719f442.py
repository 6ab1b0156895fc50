"""In the middle of 5x5 blocks lies the input enlarged, every grey cell a full 3x3 block; outside of each block at its
edge lies a copy of the input."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, paint, scatter, upscale

GREY = 5
CAP = 497  # all 3x3 patterns with two to eight cells but the official ones


def generate(rng: Random) -> tuple[Grid, Grid]:
    pattern = scatter(rng, (3, 3), 0.5)
    if not 2 <= pattern.sum() <= 8:
        raise Retry
    before = np.where(pattern, GREY, 0)
    after = canvas(15, 15)
    paint(after, upscale(before, 3), 3, 3)
    for side in range(4):  # the upper edge first, then the others by turning
        after = np.rot90(after)
        for column in np.flatnonzero(np.rot90(pattern, side + 1)[0]):
            paint(after, np.rot90(before, side + 1), 0, 3 + 3 * int(column))
    return before, after


def verify(grid: Grid) -> Grid:
    inner = np.pad(grid > 0, 1)
    output = np.kron(inner, np.full((3, 3), GREY))
    for r, c in np.argwhere(~np.pad(np.ones((3, 3), bool), 1)).tolist():
        near = min(max(r, 1), 3), min(max(c, 1), 3)  # a corner block lies beside none
        if inner[near] and (r == near[0] or c == near[1]):
            output[3 * r : 3 * r + 3, 3 * c : 3 * c + 3] = grid
    return output
