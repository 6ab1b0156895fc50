"""The small blue sign tells the colour of the large figure: each of the three signs stands for one colour. The
sign disappears."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, crop, paint, random_shape, symmetric_shape

SIGNS = {7: ("111", "1.1", ".1."), 3: ("1.1", ".1.", "111"), 2: (".1.", "111", ".1.")}
FIGURE, SIGN = 8, 1


def generate(rng: Random) -> tuple[Grid, Grid]:
    color = rng.choice(list(SIGNS))
    sign = np.array([[cell == "1" for cell in row] for row in SIGNS[color]])
    height, width = rng.randint(3, 8), rng.randint(6, 10)
    density = rng.uniform(0.45, 0.7)
    if rng.random() < 0.4:
        figure = symmetric_shape(rng, height, width, density, rng.choice(["lr", "both"]))
    else:
        figure = random_shape(rng, height, width, density, diagonal=True)
    # The figure lies above, the sign below it.
    top, left = rng.randint(0, min(2, 10 - height)), rng.randint(0, 14 - width)
    sign_top, sign_left = rng.randint(top + height + 1, 11), rng.randint(0, 11)
    before, after = canvas(14, 14), canvas(14, 14)
    paint(before, figure, top, left, FIGURE)
    paint(before, sign, sign_top, sign_left, SIGN)
    paint(after, figure, top, left, color)
    return before, after


def verify(grid: Grid) -> Grid:
    sign = crop(grid, grid == SIGN)
    text = tuple("".join("1" if cell == SIGN else "." for cell in row) for row in sign)
    (color,) = [color for color, rows in SIGNS.items() if rows == text]
    return np.where(grid == FIGURE, color, 0)
