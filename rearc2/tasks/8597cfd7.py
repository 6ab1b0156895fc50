"""Each colour has a bar above the grey line and a longer one below it. The output is a block of the colour whose bar
grows by more cells."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas

COLUMNS = {2: 2, 4: 6}  # colour -> column
LINE = 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    half = rng.randint(4, 13)
    grid = canvas(2 * half + 1, 9)
    grid[half] = LINE
    growth = {}
    for color, column in COLUMNS.items():
        above, below = sorted(rng.sample(range(1, half + 1), 2))
        grid[:above, column] = color
        grid[half + 1 : half + 1 + below, column] = color
        growth[color] = below - above
    if growth[2] == growth[4]:
        raise Retry
    return grid, canvas(2, 2, 2 if growth[2] > growth[4] else 4)


def verify(grid: Grid) -> Grid:
    line = int(np.flatnonzero(grid[:, 0] == LINE)[0])
    above, below = (np.bincount(part.ravel(), minlength=10) for part in (grid[:line], grid[line + 1 :]))
    gains = below - above
    gains[0] = 0
    return canvas(2, 2, int(gains.argmax()))
