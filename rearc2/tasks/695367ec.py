"""The square becomes the lines of a lattice whose meshes have the size of the square, cut to 15x15."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas

SIDE = 15
CAP = 122  # 14 sizes in 9 colours, without the official ones


def generate(rng: Random) -> tuple[Grid, Grid]:
    size, color = rng.randint(1, SIDE - 1), rng.randint(1, 9)
    after = canvas(SIDE, SIDE)
    after[size :: size + 1] = after[:, size :: size + 1] = color
    return canvas(size, size, color), after


def verify(grid: Grid) -> Grid:
    mesh = np.pad(np.zeros_like(grid), ((0, 1), (0, 1)), constant_values=grid[0, 0])
    return np.tile(mesh, (8, 8))[:SIDE, :SIDE]
