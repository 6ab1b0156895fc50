"""In a grid three times as large the input is copied to the places of its rarest colour: every cell stands for a block
of 3x3 cells."""

from itertools import pairwise
from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(2, 4)
    cuts = [0, *sorted(rng.sample(range(1, 9), count - 1)), 9]
    shares = [after - before for before, after in pairwise(cuts)]
    if shares.count(min(shares)) > 1:
        raise Retry
    palette = colors(rng, count)
    cells = [color for color, share in zip(palette, shares, strict=True) for _ in range(share)]
    rng.shuffle(cells)
    before, after = np.array(cells).reshape(3, 3), canvas(9, 9)
    rarest = palette[shares.index(min(shares))]
    for number, color in enumerate(cells):
        if color == rarest:
            row, column = divmod(number, 3)
            after[3 * row : 3 * row + 3, 3 * column : 3 * column + 3] = before
    return before, after


def verify(grid: Grid) -> Grid:
    found, counts = np.unique(grid, return_counts=True)
    return np.kron(grid == found[counts.argmin()], grid)
