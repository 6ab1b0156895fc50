"""The bottom row colours the columns and the right column the rows; a cell where both have the same colour gets it."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors, fill

SIDE = 10


def generate(rng: Random) -> tuple[Grid, Grid]:
    palette = colors(rng, rng.randint(3, 6))
    before, after = canvas(SIDE, SIDE), canvas(SIDE, SIDE)
    # The same colours in the same order on both sides, in runs of their own lengths; they share the corner.
    across, down = ([0, *sorted(rng.sample(range(1, SIDE), len(palette) - 1)), SIDE] for _ in range(2))
    for number, color in enumerate(palette):
        left, right, top, bottom = *across[number : number + 2], *down[number : number + 2]
        fill(after, top, left, bottom - top, right - left, color)
        for grid in (before, after):
            fill(grid, SIDE - 1, left, 1, right - left, color)
            fill(grid, top, SIDE - 1, bottom - top, 1, color)
    return before, after


def verify(grid: Grid) -> Grid:
    same = grid[:, -1:] == grid[-1:]
    return np.where(same, grid[-1:], grid)
