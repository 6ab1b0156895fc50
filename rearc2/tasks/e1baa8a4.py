"""The grid is divided into bands of rows and of columns; every field of the division becomes one cell."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, colors, random_cells


def generate(rng: Random) -> tuple[Grid, Grid]:
    shape = rng.randint(2, 6), rng.randint(2, 6)
    fields = random_cells(rng, shape, colors(rng, rng.randint(4, 9)))
    # Neighbouring bands that are equal would look like one.
    for view in (fields, fields.T):
        if (view[1:] == view[:-1]).all(axis=1).any():
            raise Retry
    heights, widths = (_parts(rng, count) for count in shape)
    return fields.repeat(heights, axis=0).repeat(widths, axis=1), fields


def _parts(rng: Random, count: int) -> list[int]:
    thick = rng.choice([3, 5, 8, 10])
    parts = [rng.randint(2, thick) for _ in range(count)]
    if not 8 <= sum(parts) <= 22:
        raise Retry
    return parts


def verify(grid: Grid) -> Grid:
    output = grid
    for _ in range(2):
        new = np.ones(len(output), bool)
        new[1:] = (output[1:] != output[:-1]).any(axis=1)
        output = output[new].T
    return output
