"""Four images of the grid, each tiled 2x2: below right the grid itself, below left turned counterclockwise by a
quarter, above left by a half, above right by three quarters."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors

GROUND = 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    before = canvas(3, 3, GROUND)
    palette = colors(rng, rng.choice([1, 1, 2, 3, 3, 3]), without=(0, GROUND))
    dots = palette + [rng.choice(palette) for _ in range(rng.randint(0, 2))]
    cells = [(row, column) for row in range(3) for column in range(3)]
    for cell, color in zip(rng.sample(cells, len(dots)), dots, strict=True):
        before[cell] = color
    if (before == np.rot90(before)).all():
        raise Retry
    after = canvas(12, 12)
    for row in range(3):
        for column in range(3):
            # The place of the cell in each of the four images.
            places = ((6, 6, row, column), (6, 0, 2 - column, row))
            places += ((0, 0, 2 - row, 2 - column), (0, 6, column, 2 - row))
            for top, left, r, c in places:
                after[top + r : top + 6 : 3, left + c : left + 6 : 3] = before[row, column]
    return before, after


def verify(grid: Grid) -> Grid:
    quarters = [np.tile(np.rot90(grid, turns), (2, 2)) for turns in range(4)]
    return np.block([[quarters[2], quarters[3]], [quarters[1], quarters[0]]])
