"""A green way joins the red dot with the blue one: one diagonal step from the red dot, then straight on, then
diagonally to the blue dot."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, symmetries

BLUE, RED, GREEN = 1, 2, 3


def generate(rng: Random) -> tuple[Grid, Grid]:
    # Drawn with the red dot above and to the left of the blue one, the way longer downwards.
    across, straight = rng.randint(2, 10), rng.randint(1, 10)
    down = across + straight
    height, width = down + 1 + rng.randint(1, 5), across + 1 + rng.randint(1, 9)
    row, column = rng.randint(0, height - 1 - down), rng.randint(0, width - 1 - across)
    before = canvas(height, width)
    before[row, column], before[row + down, column + across] = RED, BLUE
    after = before.copy()
    for step in range(1, down):
        after[row + step, column + max(1, step - straight)] = GREEN
    image = rng.randrange(8)
    return symmetries(before)[image], symmetries(after)[image]


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    ((r, c),) = np.argwhere(grid == RED).tolist()
    ((end_r, end_c),) = np.argwhere(grid == BLUE).tolist()
    r, c = r + np.sign(end_r - r), c + np.sign(end_c - c)
    while (r, c) != (end_r, end_c):
        output[r, c] = GREEN
        down, right = end_r - r, end_c - c
        r += np.sign(down) * (abs(down) >= abs(right))
        c += np.sign(right) * (abs(right) >= abs(down))
    return output
