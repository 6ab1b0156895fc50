"""The grid is enlarged twice. From every coloured block a thin blue diagonal runs to the upper left and to the lower
right, through to the border."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, fill, line, mostly, upscale

BLUE = 1


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = mostly(rng, 2, 6, 10)
    (color,) = colors(rng, 1, without=(0, BLUE))
    places = [(r, c) for r in range(side) for c in range(side)]
    dots = rng.sample(places, rng.randint(1, min(6, side)))
    before, after = canvas(side, side), canvas(2 * side, 2 * side)
    for row, column in dots:
        before[row, column] = color
        back, ahead = 2 * min(row, column), 2 * (side - 1 - max(row, column)) + 1
        start, end = (2 * row - back, 2 * column - back), (2 * row + ahead, 2 * column + ahead)
        line(after, start, end, BLUE)
    for row, column in dots:
        fill(after, 2 * row, 2 * column, 2, 2, color)
    if not (after == BLUE).any():
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = upscale(grid, 2)
    rows, columns = np.indices(output.shape)
    offsets = {int(c - r) for r, c in np.argwhere(grid)}
    on_diagonal = np.isin(columns - rows, [2 * offset for offset in offsets])
    output[on_diagonal & (output == 0)] = BLUE
    return output
