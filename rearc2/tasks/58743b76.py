"""The 2x2 key in the corner of the sky blue edge gives the colours of the field's quadrants: the cells there take
the colour in the same place of the key."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, scatter

SKY = 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    half = rng.randint(3, 9)
    key = np.array(colors(rng, 4, without=(0, SKY))).reshape(2, 2)
    cells = scatter(rng, (2 * half, 2 * half), rng.uniform(0.08, 0.2))
    colored = np.where(cells, np.kron(key, np.ones((half, half), int)), 0)
    drawn = rng.choice(key.ravel().tolist())  # all cells are drawn in one colour of the key
    if len(np.unique(colored)) < 5:
        raise Retry
    before, after = canvas(2 * half + 2, 2 * half + 2, SKY), canvas(2 * half + 2, 2 * half + 2, SKY)
    bottom, right = rng.choice([True, False]), rng.choice([True, False])  # the corner of the key
    field = slice(0, -2) if bottom else slice(2, None), slice(0, -2) if right else slice(2, None)
    corner = slice(-2, None) if bottom else slice(0, 2), slice(-2, None) if right else slice(0, 2)
    before[field] = np.where(cells, drawn, 0)
    after[field] = colored
    before[corner] = after[corner] = key
    return before, after


def verify(grid: Grid) -> Grid:
    side = len(grid)
    output = grid.copy()
    # The edge is the side where the row or column of the border is sky blue but for the key.
    top = 0 if (grid[0] == SKY).sum() < side - 2 else 2
    left = 0 if (grid[:, 0] == SKY).sum() < side - 2 else 2
    key_top, key_left = (side - 2) * (top == 0), (side - 2) * (left == 0)
    half = (side - 2) // 2
    for row in range(2):
        for column in range(2):
            r, c = top + row * half, left + column * half
            quadrant = output[r : r + half, c : c + half]
            quadrant[quadrant != 0] = grid[key_top + row, key_left + column]
    return output
