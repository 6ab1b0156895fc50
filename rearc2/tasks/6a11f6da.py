"""Three squares lie one below the other: blue, sky blue, pink. Laid on each other, pink covers blue and blue covers sky
blue."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, scatter

SIDE = 5
PILE = (8, 1, 6)  # from below


def generate(rng: Random) -> tuple[Grid, Grid]:
    layers = {color: scatter(rng, (SIDE, SIDE), rng.uniform(0.3, 0.7)) * color for color in PILE}
    after = layers[PILE[0]]
    for color in PILE[1:]:
        after = np.where(layers[color], layers[color], after)
    return np.vstack([layers[color] for color in (1, 8, 6)]), after


def verify(grid: Grid) -> Grid:
    output = np.zeros((SIDE, SIDE), np.int64)
    for row, column in np.ndindex(SIDE, SIDE):
        here = grid[row::SIDE, column].tolist()
        output[row, column] = next((color for color in PILE[::-1] if color in here), 0)
    return output
