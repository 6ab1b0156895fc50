"""Every dot moves in a way that its colour tells: orange two up, red two left, maroon two down, blue one right."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas

BACKGROUND = 8
MOVES = {7: (-2, 0), 2: (0, -2), 9: (2, 0), 1: (0, 1)}  # colour -> rows down, columns right


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(10, 16)
    palette = rng.sample(list(MOVES), rng.randint(1, 4))
    most = 3 if side < 13 else 10
    before, after = canvas(side, side, BACKGROUND), canvas(side, side, BACKGROUND)
    for number in range(rng.randint(len(palette), max(most, len(palette)))):
        color = palette[number % len(palette)]
        down, right = MOVES[color]
        row, column = rng.randrange(side), rng.randrange(side)
        if not (0 <= row + down < side and 0 <= column + right < side):
            raise Retry
        # No two dots start or end in the same place, nor does one end where another starts.
        for place in ((row, column), (row + down, column + right)):
            if before[place] != BACKGROUND or after[place] != BACKGROUND:
                raise Retry
        before[row, column] = color
        after[row + down, column + right] = color
    return before, after


def verify(grid: Grid) -> Grid:
    output = np.full_like(grid, BACKGROUND)
    for row, column in np.argwhere(grid != BACKGROUND).tolist():
        color = int(grid[row, column])
        down, right = MOVES[color]
        output[row + down, column + right] = color
    return output
