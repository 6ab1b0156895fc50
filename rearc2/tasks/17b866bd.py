"""A coloured dot at a crossing of the lattice fills the ring below and right of it with its colour; all crossings turn
black."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors

LATTICE = 8
PITCH = 5
# What a ring encloses, between four crossings.
INSIDE = np.array([[0, 1, 1, 0], [1, 1, 1, 1], [1, 1, 1, 1], [0, 1, 1, 0]])


def generate(rng: Random) -> tuple[Grid, Grid]:
    rows, columns = rng.randint(2, 5), rng.randint(2, 5)
    before = canvas(PITCH * rows + 1, PITCH * columns + 1, LATTICE)
    before[::PITCH, ::PITCH] = 0
    after = before.copy()
    palette = colors(rng, rng.randint(1, 3), without=(0, LATTICE))
    if rng.random() < 0.5:
        palette.append(LATTICE)
    filled = rng.sample(range(rows * columns), rng.randint(1, rows * columns))
    for number in range(rows * columns):
        top, left = PITCH * (number // columns), PITCH * (number % columns)
        color = palette[0] if number == filled[0] else rng.choice(palette) if number in filled else 0
        before[top, left] = color
        ring = slice(top + 1, top + PITCH), slice(left + 1, left + PITCH)
        before[ring][INSIDE > 0] = 0
        after[ring][INSIDE > 0] = color
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    output[::PITCH, ::PITCH] = 0
    for r in range(0, grid.shape[0] - 1, PITCH):
        for c in range(0, grid.shape[1] - 1, PITCH):
            ring = output[r + 1 : r + PITCH, c + 1 : c + PITCH]
            ring[ring == 0] = grid[r, c]
    return output
