"""The grid is enlarged; the factor is the number of its colours."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors, fill, upscale

ONE_COLOR = "two official grids have one colour: the factor is 1, and pairs with equal grids are left out"
EXCEPTIONS = {
    "in colours": ONE_COLOR,
    "out colours": ONE_COLOR,
    "in objects": ONE_COLOR,
    "out objects": ONE_COLOR,
    "out height": ONE_COLOR,
    "out width": ONE_COLOR,
    "out cells": ONE_COLOR,
    "changed cells": ONE_COLOR,
}


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(2, 6)
    palette = colors(rng, count)
    cells = palette + [rng.choice(palette) for _ in range(9 - count)]
    rng.shuffle(cells)
    before, after = canvas(3, 3), canvas(3 * count, 3 * count)
    for number, color in enumerate(cells):
        row, column = divmod(number, 3)
        before[row, column] = color
        fill(after, row * count, column * count, count, count, color)
    return before, after


def verify(grid: Grid) -> Grid:
    return upscale(grid, len(np.unique(grid)))
