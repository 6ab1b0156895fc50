"""The small figure moves into the pink frame and grows to its inside: a solid one fills it, and a corner becomes two
sides, one cell thick, that meet in the same corner."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, box, canvas, colors, fill, frame, holes, line, place

BACKGROUND, FRAME = 7, 6


def generate(rng: Random) -> tuple[Grid, Grid]:
    inside = rng.randint(1, 6)
    small = 1 if inside == 1 else 2
    spaces = place(rng, (10, 10), [(inside + 2, inside + 2), (small, small)], gap=rng.randint(0, 1))
    (top, left), (figure_top, figure_left) = spaces
    (color,) = colors(rng, 1, without=(BACKGROUND, FRAME))
    before, after = canvas(10, 10, BACKGROUND), canvas(10, 10, BACKGROUND)
    for grid in (before, after):
        frame(grid, top, left, inside + 2, inside + 2, FRAME)
    fill(before, figure_top, figure_left, small, small, color)
    if inside == 1 or rng.random() < 0.25:
        fill(after, top + 1, left + 1, inside, inside, color)
        return before, after
    lower, right = rng.randint(0, 1), rng.randint(0, 1)  # the corner of the figure
    before[figure_top + 1 - lower, figure_left + 1 - right] = BACKGROUND
    row, column = top + (inside if lower else 1), left + (inside if right else 1)
    line(after, (row, left + 1), (row, left + inside), color)
    line(after, (top + 1, column), (top + inside, column), color)
    return before, after


def verify(grid: Grid) -> Grid:
    figure = (grid != BACKGROUND) & (grid != FRAME)
    color = int(grid[figure].max())
    top, left, height, width = box(figure)
    shape = figure[top : top + height, left : left + width]
    top, left, height, width = box(holes(grid == FRAME))
    output = np.where(figure, BACKGROUND, grid)
    inside = output[top : top + height, left : left + width]
    if shape.all():
        inside[:] = color
    else:
        # The full row and the full column of the small corner tell the two sides.
        inside[-int(shape.all(axis=1).argmax()), :] = color
        inside[:, -int(shape.all(axis=0).argmax())] = color
    return output
