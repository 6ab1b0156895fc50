"""The maroon cell leaves the centre of the grey square for the side or corner that faces the panel with the pink cell;
that cell turns maroon."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, fill

GROUND, LINE, GREY, MAROON, PINK = 7, 0, 5, 9, 6
NOISE = (1, 2, 3, 4, 8)


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(7, 24)
    lines = [rng.randint(1, side - 6) for _ in range(2)]  # first of the two lines across and of the two down
    after = canvas(side, side, GROUND)
    for _ in range(rng.randint(5, 8 + side * side // 30)):
        after[rng.randrange(side), rng.randrange(side)] = rng.choice(NOISE)
    after[[lines[0], lines[0] + 4]] = LINE
    after[:, [lines[1], lines[1] + 4]] = LINE
    fill(after, lines[0] + 1, lines[1] + 1, 3, 3, GREY)
    before = after.copy()
    down, right = rng.choice([(d, r) for d in (-1, 0, 1) for r in (-1, 0, 1) if d or r])
    row, column = (
        rng.choice({-1: range(line), 0: range(line + 1, line + 4), 1: range(line + 5, side)}[step])
        for line, step in zip(lines, (down, right), strict=True)
    )
    before[row, column], after[row, column] = PINK, MAROON
    before[lines[0] + 2, lines[1] + 2] = MAROON
    after[lines[0] + 2 + down, lines[1] + 2 + right] = MAROON
    return before, after


def verify(grid: Grid) -> Grid:
    (center,), (pink,) = (np.argwhere(grid == color) for color in (MAROON, PINK))
    # The panel is above, beside or below the square as the pink cell is more than a cell off the centre.
    step = np.where(np.abs(pink - center) > 1, np.sign(pink - center), 0)
    output = grid.copy()
    output[tuple(center)] = GREY
    output[tuple(center + step)] = output[tuple(pink)] = MAROON
    return output
