"""The red figure moves to the grey block until they touch, and the block becomes the mirror image of the figure in
the line where they touch."""

from random import Random

import numpy as np

from rearc2.helpers import SIDES, Grid, Retry, canvas, crop, paint, random_shape, to_top, undo_to_top

SIDE, BLOCK = 13, 2
RED, GREY, ORANGE = 2, 5, 7


def generate(rng: Random) -> tuple[Grid, Grid]:
    """Drawn with the figure above the block, then turned."""
    height, width = rng.choice([2, 2, 3, 3, 3, 4]), rng.choice([2, 2, 3, 3, 3, 4])
    figure = random_shape(rng, height, width, rng.uniform(0.4, 0.6), diagonal=True)
    if np.array_equal(figure, figure[::-1]):
        raise Retry  # no mirror image could be seen
    way = rng.randint(2, 4)
    top, left = rng.randint(height + way, SIDE - max(height, BLOCK)), rng.randint(1, SIDE - 1 - BLOCK)
    figure_left = rng.randint(max(0, left + 1 - width), min(left + 1, SIDE - width))
    # The figure's lowest cells meet the block, not the air beside it.
    lowest = np.flatnonzero(figure[-1]) + figure_left
    if not ((lowest == left) | (lowest == left + 1)).any():
        raise Retry
    before, after = canvas(SIDE, SIDE, ORANGE), canvas(SIDE, SIDE, ORANGE)
    paint(before, figure, top - way - height, figure_left, RED)
    before[top : top + BLOCK, left : left + BLOCK] = GREY
    paint(after, figure, top - height, figure_left, RED)
    paint(after, figure[::-1], top, figure_left, GREY)
    side = rng.choice(SIDES)
    return undo_to_top(before, side), undo_to_top(after, side)


def verify(grid: Grid) -> Grid:
    for side in SIDES:
        turned = to_top(grid, side)
        rows, columns = np.nonzero(turned == RED)
        touch = np.nonzero(turned == GREY)[0].min()
        if rows.max() < touch and set(columns) & set(np.nonzero(turned == GREY)[1]):
            break
    output = canvas(*grid.shape, color=ORANGE)
    figure = crop(turned, turned == RED) == RED
    paint(output, figure, int(touch) - len(figure), int(columns.min()), RED)
    paint(output, figure[::-1], int(touch), int(columns.min()), GREY)
    return undo_to_top(output, side)
