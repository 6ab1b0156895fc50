"""The bars' colours move on to the next bar on the right, their heights to the next on the left; both go round."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors

GROUND = 7


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(3, 9)
    side = 2 * count + 1
    palette = colors(rng, count, without=(GROUND,))
    heights = [rng.randint(1, side - 1) for _ in range(count)]
    if len(set(heights)) < 3:
        raise Retry
    before, after = canvas(side, side, GROUND), canvas(side, side, GROUND)
    for number in range(count):
        column = 2 * number + 1
        before[side - heights[number] :, column] = palette[number]
        after[side - heights[(number + 1) % count] :, column] = palette[number - 1]
    return before, after


def verify(grid: Grid) -> Grid:
    output = np.full_like(grid, GROUND)
    columns = np.flatnonzero(grid[-1] != GROUND)
    inks = np.roll(grid[-1, columns], 1)
    heights = np.roll((grid[:, columns] != GROUND).sum(axis=0), -1)
    for column, ink, height in zip(columns, inks, heights, strict=True):
        output[len(grid) - height :, column] = ink
    return output
