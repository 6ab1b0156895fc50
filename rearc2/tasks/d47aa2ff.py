"""The panels differ in a few dots that moved: where a dot was in the left panel alone comes red, where it is in the
right panel alone blue. The other dots stay."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, join, split

LINE, LEFT_ONLY, RIGHT_ONLY = 5, 2, 1
SIDE = 10


def generate(rng: Random) -> tuple[Grid, Grid]:
    palette = colors(rng, rng.randint(2, 4), without=(0, LINE, LEFT_ONLY, RIGHT_ONLY))
    left, after = canvas(SIDE, SIDE), canvas(SIDE, SIDE)
    taken = np.zeros((SIDE, SIDE), bool)
    dots = []
    for row, column in rng.sample([(r, c) for r in range(SIDE) for c in range(SIDE)], SIDE * SIDE):
        if not taken[row, column] and len(dots) < 11:
            # Dots lie apart from each other.
            taken[max(0, row - 1) : row + 2, max(0, column - 1) : column + 2] = True
            dots.append((row, column))
    dots = dots[: rng.randint(6, 11)]
    for place in dots:
        left[place] = after[place] = rng.choice(palette)
    right = left.copy()
    for row, column in rng.sample(dots, rng.randint(1, 3)):
        near = [
            (r, c)
            for r in range(max(0, row - 2), min(SIDE, row + 3))
            for c in range(max(0, column - 2), min(SIDE, column + 3))
            if not left[r, c] and not right[r, c]
        ]
        if not near:
            raise Retry
        place = rng.choice(near)
        right[place] = left[row, column]
        right[row, column] = 0
        after[place], after[row, column] = RIGHT_ONLY, LEFT_ONLY
    return join([[left, right]], LINE), after


def verify(grid: Grid) -> Grid:
    ((left, right),) = split(grid, LINE)
    output = left.copy()
    output[(left > 0) & (right == 0)] = LEFT_ONLY
    output[(left == 0) & (right > 0)] = RIGHT_ONLY
    return output
