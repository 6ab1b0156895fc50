"""Each coloured corner cell turns into a figure near its corner: an upper one into a 2x2 square one step inwards,
a lower one into a bar of two cells with a foot towards the middle."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors

SIDE, PAPER = 8, 7
# Corner -> the cells of its figure.
FIGURES = {
    (0, 0): [(1, 1), (1, 2), (2, 1), (2, 2)],
    (0, 7): [(1, 5), (1, 6), (2, 5), (2, 6)],
    (7, 0): [(4, 2), (5, 2), (6, 3)],
    (7, 7): [(4, 5), (5, 5), (6, 4)],
}


def generate(rng: Random) -> tuple[Grid, Grid]:
    before, after = canvas(SIDE, SIDE, PAPER), canvas(SIDE, SIDE, PAPER)
    corners = rng.sample(list(FIGURES), rng.choice([1, 2, 3, 4, 4]))
    for corner, color in zip(corners, colors(rng, len(corners), without=(PAPER,)), strict=True):
        before[corner] = color
        for cell in FIGURES[corner]:
            after[cell] = color
    return before, after


def verify(grid: Grid) -> Grid:
    output = np.full_like(grid, PAPER)
    output[1:3, 1:3], output[1:3, 5:7] = grid[0, 0], grid[0, -1]
    output[4:6, 2] = output[6, 3] = grid[-1, 0]
    output[4:6, 5] = output[6, 4] = grid[-1, -1]
    return output
