"""A lattice of lines has one pattern in one of its 3x3 compartments. The pattern is repeated in every second
compartment from there, in both directions; what does not fit at the right and lower border is cut off."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, box, canvas, colors, paint, random_shape

PITCH = 4  # three cells and a line


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(15, 30)
    line_color, pattern_color = colors(rng, 2)
    pattern = random_shape(rng, 3, 3, rng.uniform(0.35, 0.8), diagonal=True)
    before = canvas(side, side)
    before[PITCH - 1 :: PITCH] = before[:, PITCH - 1 :: PITCH] = line_color
    after = before.copy()
    whole = (side + 1) // PITCH  # compartments that are not cut off
    row, column = rng.randrange(whole), rng.randrange(whole)
    paint(before, pattern, row * PITCH, column * PITCH, pattern_color)
    for top in range(row % 2 * PITCH, side, 2 * PITCH):
        for left in range(column % 2 * PITCH, side, 2 * PITCH):
            paint(after, pattern, top, left, pattern_color)
    return before, after


def verify(grid: Grid) -> Grid:
    line_color = grid[PITCH - 1, 0]
    marked = (grid != 0) & (grid != line_color)
    top, left, _, _ = box(marked)
    top, left = top // PITCH * PITCH, left // PITCH * PITCH
    tile = grid[top : top + PITCH - 1, left : left + PITCH - 1]
    output = grid.copy()
    for r, c in np.ndindex(*grid.shape):
        # The position within a square of two by two compartments that begins at the pattern's.
        down, right = (r - top) % (2 * PITCH), (c - left) % (2 * PITCH)
        if down < PITCH - 1 and right < PITCH - 1:
            output[r, c] = tile[down, right]
    return output
