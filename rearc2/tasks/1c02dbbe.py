"""A coloured corner of the grey field and two cells of its colour beside the field say how far a rectangle reaches
from that corner; it is filled with the colour, and the cells beside the field disappear."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, box, canvas, colors, fill, retrying

FIELD = 5
SIDE = 15


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(1, 4)
    return retrying(lambda: _draw(rng, count))


def _draw(rng: Random, count: int) -> tuple[Grid, Grid]:
    height, width = rng.randint(9, 13), rng.randint(9, 13)
    top, left = rng.randint(1, SIDE - height - 1), rng.randint(1, SIDE - width - 1)
    bottom, right = top + height - 1, left + width - 1
    before, after = canvas(SIDE, SIDE), canvas(SIDE, SIDE)
    for grid in (before, after):
        fill(grid, top, left, height, width, FIELD)
    corners = rng.sample([(upper, lefter) for upper in (True, False) for lefter in (True, False)], count)
    for (upper, lefter), color in zip(corners, colors(rng, count, without=(0, FIELD)), strict=True):
        tall, wide = rng.randint(3, height - 3), rng.randint(3, width - 3)
        rectangle_top = top if upper else bottom - tall + 1
        rectangle_left = left if lefter else right - wide + 1
        if np.any(
            after[rectangle_top : rectangle_top + tall, rectangle_left : rectangle_left + wide] != FIELD
        ):
            raise Retry
        fill(after, rectangle_top, rectangle_left, tall, wide, color)
        before[top if upper else bottom, left if lefter else right] = color
        # The marks lie outside, where the rectangle's two other sides meet the edge of the field.
        before[top - 1 if upper else bottom + 1, left + wide - 1 if lefter else right - wide + 1] = color
        before[top + tall - 1 if upper else bottom - tall + 1, left - 1 if lefter else right + 1] = color
    return before, after


def verify(grid: Grid) -> Grid:
    top, left, height, width = box(grid == FIELD)
    field = np.zeros(grid.shape, bool)
    field[top : top + height, left : left + width] = True
    output = np.where(field, FIELD, 0)
    for row in (top, top + height - 1):
        for column in (left, left + width - 1):
            color = grid[row, column]
            if color != FIELD:
                # The box around the corner and its marks covers the rectangle within the field.
                first_row, first_column, tall, wide = box(grid == color)
                reach = np.zeros(grid.shape, bool)
                reach[first_row : first_row + tall, first_column : first_column + wide] = True
                output[reach & field] = color
    return output
