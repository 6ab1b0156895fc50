"""The small blue sign tells the colour of the large figure: each of the three signs stands for one colour. The
sign disappears."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, crop, objects, paint, scatter

SIGNS = {7: ("111", "1.1", ".1."), 3: ("1.1", ".1.", "111"), 2: (".1.", "111", ".1.")}
FIGURE, SIGN = 8, 1


def generate(rng: Random) -> tuple[Grid, Grid]:
    color = rng.choice(list(SIGNS))
    sign = np.array([[cell == "1" for cell in row] for row in SIGNS[color]])
    figure = _figure(rng)
    height, width = figure.shape
    # The figure lies above, the sign below it.
    top, left = rng.randint(0, min(2, 10 - height)), rng.randint(0, 14 - width)
    sign_top, sign_left = rng.randint(top + height + 1, 11), rng.randint(0, 11)
    before, after = canvas(14, 14), canvas(14, 14)
    paint(before, figure, top, left, FIGURE)
    paint(before, sign, sign_top, sign_left, SIGN)
    paint(after, figure, top, left, color)
    return before, after


def _figure(rng: Random) -> Mask:
    """A ragged figure with holes, sometimes with mirror symmetry: the largest piece of some noise."""
    noise = scatter(rng, (rng.randint(3, 8), rng.randint(6, 10)), rng.uniform(0.45, 0.65))
    if rng.random() < 0.4:
        half = (noise.shape[1] + 1) // 2
        noise[:, -half:] = noise[:, half - 1 :: -1]
    largest = max(objects(noise.astype(int)), key=lambda thing: thing.size)
    if largest.height < 3 or largest.width < 6:
        raise Retry
    return largest.mask


def verify(grid: Grid) -> Grid:
    sign = crop(grid, grid == SIGN)
    text = tuple("".join("1" if cell == SIGN else "." for cell in row) for row in sign)
    (color,) = [color for color, rows in SIGNS.items() if rows == text]
    return np.where(grid == FIGURE, color, 0)
