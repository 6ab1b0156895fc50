"""The small coloured picture is a legend: its cell in row i, column j gives the colour of the grey figure in row i,
column j of the array."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, box, canvas, colors, paint, random_cells, random_shape

GREY = 5
SIDE, PITCH = 23, 4  # of the grid; from one 3x3 figure to the next


def generate(rng: Random) -> tuple[Grid, Grid]:
    beside = rng.random() < 0.6
    rows, columns = (
        (rng.randint(3, 5), rng.randint(3, 4)) if beside else (rng.randint(2, 4), rng.randint(3, 5))
    )
    palette = colors(rng, rng.randint(3, 5), without=(0, GREY))
    legend = random_cells(rng, (rows, columns), palette + palette[:1])
    figure = random_shape(rng, 3, 3, rng.uniform(0.5, 0.9))
    if len(np.unique(legend)) < 3:
        raise Retry
    # The legend is at the left border, with the array to its right or above it.
    height, width = PITCH * rows - 1, PITCH * columns - 1
    if beside:
        top, left = rng.randint(1, min(3, SIDE - 1 - height)), rng.randint(columns + 2, SIDE - 1 - width)
        legend_top = rng.randint(1, SIDE - 1 - rows)
    else:
        top, left = rng.randint(1, min(3, SIDE - 2 - height - rows)), rng.randint(1, SIDE - 1 - width)
        legend_top = rng.randint(top + height + 1, SIDE - 1 - rows)
    before = canvas(SIDE, SIDE)
    paint(before, legend, legend_top, 1)
    after = before.copy()
    for r in range(rows):
        for c in range(columns):
            paint(before, figure, top + PITCH * r, left + PITCH * c, GREY)
            paint(after, figure, top + PITCH * r, left + PITCH * c, int(legend[r, c]))
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    top, left, _, _ = box(grid == GREY)
    legend_top, legend_left, rows, columns = box((grid != 0) & (grid != GREY))
    for r in range(rows):
        for c in range(columns):
            figure = output[top + PITCH * r :, left + PITCH * c :][:3, :3]
            figure[figure == GREY] = grid[legend_top + r, legend_left + c]
    return output
