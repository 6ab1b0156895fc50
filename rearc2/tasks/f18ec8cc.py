"""The grid is made of upright stripes with a few dots in the colours of the others. The first stripe, dots and all,
goes to the right end."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors, most_common

WRONG = {
    "train 0": "the last stripe comes first and the first last; in all other pairs only the first one moves"
}


def generate(rng: Random) -> tuple[Grid, Grid]:
    height = min(rng.randint(7, 14), rng.randint(7, 14))
    palette = colors(rng, rng.randint(3, 5))
    rows = range(height) if rng.random() < 0.4 else range(1, height - 1)
    stripes = []
    for color in palette:
        stripe = canvas(
            height, min(rng.randint(3, 7), rng.randint(3, 7), 5 if len(palette) == 5 else 7), color
        )
        others = [other for other in palette if other != color]
        dotted = rng.sample(others, rng.randint(2, min(3, len(others))))
        # Fewer dots than half the column, so that every column keeps the stripe's colour as its own.
        for row, dot in zip(rng.sample(rows, len(dotted)), dotted, strict=True):
            stripe[row, rng.randint(1, stripe.shape[1] - 2)] = dot
        stripes.append(stripe)
    return np.hstack(stripes), np.hstack([*stripes[1:], stripes[0]])


def verify(grid: Grid) -> Grid:
    owners = np.array([most_common(column) for column in grid.T])
    width = int(np.argmax(owners != owners[0]))
    return np.roll(grid, -width, axis=1)
