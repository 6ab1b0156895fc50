"""The grid is copied, in place of a cell of a grid three times as large, wherever it has its most frequent colour."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, paint

SIDE = 3


def generate(rng: Random) -> tuple[Grid, Grid]:
    most = rng.choice([3, 3, 4, 4, 5])
    winner, *palette = colors(rng, rng.randint(3, 6))
    others = [rng.choice(palette) for _ in range(SIDE * SIDE - most)]
    if max(others.count(color) for color in palette) >= most or len(set(others)) < 2:
        raise Retry
    cells = [winner] * most + others
    rng.shuffle(cells)
    before = np.array(cells).reshape(SIDE, SIDE)
    after = canvas(SIDE * SIDE, SIDE * SIDE)
    for place, color in enumerate(cells):
        if color == winner:
            paint(after, before, SIDE * (place // SIDE), SIDE * (place % SIDE))
    return before, after


def verify(grid: Grid) -> Grid:
    inks, counts = np.unique(grid, return_counts=True)
    return np.kron(grid == inks[counts.argmax()], grid)
