"""The four 3x3 figures are moved together into a 7x7 grid, each to the corner in which it lies."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, Thing, canvas, objects, paint, random_shape

RED = 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(12, 28), rng.randint(12, 28)
    # An empty row and an empty column part the upper from the lower and the left from the right figures.
    across, down = rng.randint(4, height - 5), rng.randint(4, width - 5)
    before, after = canvas(height, width), canvas(7, 7)
    for lower in (False, True):
        for right in (False, True):
            figure = random_shape(rng, 3, 3, rng.uniform(0.4, 0.9), diagonal=True)
            top = rng.randint(across + 1, height - 3) if lower else rng.randint(0, across - 3)
            left = rng.randint(down + 1, width - 3) if right else rng.randint(0, down - 3)
            # Officially the figure's centre also lies in that quarter of the whole grid.
            for start, length, far in ((top, height, lower), (left, width, right)):
                past_middle = 2 * start + 3 - length  # the figure's centre, in half cells
                if past_middle == 0 or (past_middle > 0) != far:
                    raise Retry
            paint(before, figure, top, left, RED)
            paint(after, figure, 4 * lower, 4 * right, RED)
    return before, after


def verify(grid: Grid) -> Grid:
    figures = sorted(objects(grid), key=lambda figure: figure.top)
    upper, lower = (sorted(pair, key=lambda figure: figure.left) for pair in (figures[:2], figures[2:]))
    return _together([upper, lower])


def rival_columns(grid: Grid) -> Grid:
    """Left and right are told first, then above and below."""
    figures = sorted(objects(grid), key=lambda figure: figure.left)
    left, right = (sorted(pair, key=lambda figure: figure.top) for pair in (figures[:2], figures[2:]))
    return _together([[left[0], right[0]], [left[1], right[1]]])


def rival_quarters(grid: Grid) -> Grid:
    """The quarter of the grid in which a figure's centre lies tells its place."""
    output = canvas(7, 7)
    for figure in objects(grid):
        lower = figure.top + figure.bottom >= len(grid)
        right = figure.left + figure.right >= grid.shape[1]
        paint(output, figure.patch, 4 * lower, 4 * right)
    return output


def _together(figures: list[list[Thing]]) -> Grid:
    output = canvas(7, 7)
    for row, column in np.ndindex(2, 2):
        paint(output, figures[row][column].patch, 4 * row, 4 * column)
    return output
