"""The purple sign tells on which side the yellow figure is mirrored: T to the right, T upside down to the left, cross
with the long arm at the left downwards, at the right upwards. The sign disappears."""

from random import Random

import numpy as np

from rearc2.helpers import SIDES, Grid, Retry, box, canvas, crop, paint, place, random_shape, to_top

FIGURE, SIGN = 4, 6
SIGNS = {
    "right": ("666", ".6.", ".6."),
    "left": (".6.", ".6.", "666"),
    "bottom": ("..6.", "6666", "..6."),
    "top": (".6..", "6666", ".6.."),
}


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.choice(list(SIDES))
    sign = np.array([[cell == "6" for cell in row] for row in SIGNS[side]])
    # Drawn as if mirrored upwards, then turned.
    height, width = rng.randint(3, 6), rng.randint(3, 8)
    figure = random_shape(rng, height, width, rng.uniform(0.4, 0.75), diagonal=True)
    pair = np.vstack([figure[::-1], figure])
    turns = SIDES.index(side)
    pair = np.rot90(pair, -turns)
    original = np.rot90(np.vstack([np.zeros_like(figure), figure]), -turns)
    if (figure == figure[::-1]).all():
        raise Retry
    rows, columns = rng.randint(6, 16), rng.randint(8, 16)
    if rows < pair.shape[0] or columns < pair.shape[1]:
        raise Retry
    before, after = canvas(rows, columns), canvas(rows, columns)
    ((top, left),) = place(rng, before.shape, [pair.shape])
    paint(before, original, top, left, FIGURE)
    paint(after, pair, top, left, FIGURE)
    # The sign may stand where the image comes to lie.
    ((row, column),) = place(rng, before.shape, [sign.shape], taken=before != 0)
    paint(before, sign, row, column, SIGN)
    return before, after


def verify(grid: Grid) -> Grid:
    text = tuple("".join("6" if cell == SIGN else "." for cell in row) for row in crop(grid, grid == SIGN))
    (side,) = [side for side, rows in SIGNS.items() if rows == text]
    output = np.where(grid == FIGURE, FIGURE, 0)
    # A view with the side at the top: what is drawn there is drawn in the output.
    turned = to_top(output, side)
    top, left, height, width = box(turned != 0)
    turned[top - height : top, left : left + width] = turned[top : top + height, left : left + width][
        ::-1
    ].copy()
    return output
