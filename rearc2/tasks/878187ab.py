"""Two colours are counted: the larger number is the width and the smaller one the height of a red rectangle in the
lower left corner, with yellow diagonals that rise from its two lower corners."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, canvas, colors

GROUND, RED, YELLOW, SIDE = 7, 2, 4, 16


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(14, SIDE)
    # Half of the rectangles are large.
    least = rng.choice([3, 8])
    height, width = sorted([rng.randint(least, 15), rng.randint(least, 15)])
    pair = colors(rng, 2, without=(GROUND,))
    before, after = canvas(side, side, GROUND), canvas(SIDE, SIDE, GROUND)
    places = rng.sample(range(side * side), height + width)
    before.flat[places[:height]] = pair[0]
    before.flat[places[height:]] = pair[1]
    after[SIDE - height :, :width] = RED
    for rise in range(height):
        after[SIDE - 1 - rise, [rise, width - 1 - rise]] = YELLOW
    return before, after


def verify(grid: Grid) -> Grid:
    counts = np.unique(grid[grid != GROUND], return_counts=True)[1]
    width, height = counts.max(), counts.min()
    rising: Mask = np.eye(height, width, dtype=bool)
    block = np.where(rising | rising[:, ::-1], YELLOW, RED)
    output = canvas(SIDE, SIDE, GROUND)
    output[:height, :width] = block
    return output[::-1]
