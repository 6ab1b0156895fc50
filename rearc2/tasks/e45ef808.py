"""The air above the highest column of the ground turns yellow, the air above the lowest one maroon; of equal ones the
rightmost counts."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas

SKY, AIR, GROUND, HIGH, LOW = 0, 1, 6, 4, 9
SIDE = 12


def generate(rng: Random) -> tuple[Grid, Grid]:
    base = rng.randint(2, 4)
    heights = [base + rng.choice([0, 0, 0, 1]) for _ in range(SIDE)]
    for _ in range(rng.randint(1, 3)):
        peak, middle, slope = base + rng.randint(1, 6 - base // 2), rng.randrange(SIDE), rng.choice([1, 1, 2])
        heights = [max(height, peak - slope * abs(c - middle)) for c, height in enumerate(heights)]
    valley = rng.randrange(SIDE)
    heights[valley] = base - 1
    summit = int(np.argmax(heights))
    # No ties: the official pairs show one (train 1, the peak to the right counts), too little for a rule.
    if heights.count(heights[summit]) > 1:
        raise Retry
    before = canvas(SIDE, SIDE, AIR)
    before[0] = SKY
    for column, height in enumerate(heights):
        before[SIDE - height :, column] = GROUND
    if (before == GROUND).sum() >= (before == AIR).sum():
        raise Retry
    after = before.copy()
    after[1 : SIDE - heights[summit], summit] = HIGH
    after[1 : SIDE - heights[valley], valley] = LOW
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    heights = (grid == GROUND).sum(axis=0)
    for color, height in ((HIGH, heights.max()), (LOW, heights.min())):
        column = int(np.flatnonzero(heights == height)[-1])
        output[grid[:, column] == AIR, column] = color
    return output
