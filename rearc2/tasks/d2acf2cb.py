"""Where two yellow cells face each other from opposite borders, the line between them is switched: magenta becomes
orange and black sky blue, or the other way round."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, random_cells

YELLOW = 4
SWITCHED = {6: 7, 0: 8, 7: 6, 8: 0}


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(1, 4)
    height, width = rng.randint(max(5, 2 * count + 1), 12), rng.randint(6, 14)
    off = random_cells(rng, (height, width), rng.choice([[0, 0, 6], [0, 6], [0, 6, 6]]))
    on = off.copy()
    # No two lines side by side, none along the border.
    rows = [row + number for number, row in enumerate(sorted(rng.sample(range(1, height - count), count)))]
    for row in rows:
        on[row] = np.where(off[row] == 6, 7, 8)
        for grid in (off, on):
            grid[row, 0] = grid[row, -1] = YELLOW
    before, after = (off, on) if rng.random() < 0.6 else (on, off)
    return (before, after) if rng.random() < 0.5 else (before.T.copy(), after.T.copy())


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for lines, result in ((grid, output), (grid.T, output.T)):
        for line, switched in zip(lines, result, strict=True):
            if line[0] == line[-1] == YELLOW:
                switched[1:-1] = [SWITCHED[color] for color in line[1:-1].tolist()]
    return output
