"""The left sign tells the colour of the right figure: a T blue, the two hands of a zigzag red and green.
The output is the figure in that colour."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, label, paint, scatter

CAP = 689  # 3 signs with 232 connected figures each, less the official ones
GREY = 5
SIGNS = {1: ("555", ".5.", ".5."), 2: ("55.", ".5.", ".55"), 3: (".55", ".5.", "55.")}


def generate(rng: Random) -> tuple[Grid, Grid]:
    figure = scatter(rng, (3, 3), 0.55)
    spans = figure[0].any() and figure[2].any() and figure[:, 0].any() and figure[:, 2].any()
    if not spans or label(figure)[1] > 1 or figure.all():
        raise Retry
    color = rng.choice(list(SIGNS))
    sign = np.array([[cell == "5" for cell in row] for row in SIGNS[color]])
    before = canvas(5, 9)
    paint(before, sign, 1, 1, GREY)
    paint(before, figure, 1, 5, GREY)
    return before, figure * color


def verify(grid: Grid) -> Grid:
    # The ends of the sign's last row tell the three signs apart.
    lower_left, lower_right = grid[3, 1], grid[3, 3]
    color = 3 if lower_left else 2 if lower_right else 1
    return np.where(grid[1:4, 5:8] == GREY, color, 0)
