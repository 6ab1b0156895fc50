"""The output is the ring that lies in the broken orange frame; the frame may stick out of the grid."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, box, canvas, colors, crop, fill, frame, place

FLOOR, ORANGE = 5, 7


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(12, 22), rng.randint(12, 22)
    count = rng.randint(4, 7)
    rings = []
    for color in colors(rng, count, without=(0, FLOOR, ORANGE)):
        ring = canvas(3, 3, color)
        ring[1, 1] = FLOOR
        rings.append(ring)
    before = canvas(height, width, FLOOR)
    top, left = rng.randint(0, height - 3), rng.randint(0, width - 3)
    fill(before, top, left, 3, 3, ORANGE)  # kept free for the ring in the frame
    above, below, before_it, behind = (rng.randint(2, 5) for _ in range(4))
    box_top, box_left = top - above, left - before_it
    box_height, box_width = above + 3 + below, before_it + 3 + behind
    sides = [box_top >= 0, box_left >= 0, box_top + box_height <= height, box_left + box_width <= width]
    if sum(sides) < 2 or not (sides[0] or sides[2]) or not (sides[1] or sides[3]):
        raise Retry
    inside = np.zeros(before.shape, bool)
    fill(inside, box_top, box_left, box_height, box_width, True)
    spots = place(rng, before.shape, [(3, 3)] * (count - 1), taken=inside)
    before[...] = FLOOR
    frame(before, box_top, box_left, box_height, box_width, ORANGE)
    orange = before == ORANGE
    for row, column in np.argwhere(orange).tolist():
        if rng.random() < 0.3:
            before[row, column] = FLOOR
    # What is left must still show the frame around the ring, on every side that lies in the grid.
    shown_top, shown_left, shown_height, shown_width = box(before == ORANGE)
    if (shown_top, shown_left, shown_height, shown_width) != box(orange):
        raise Retry
    for ring, (row, column) in zip(rings, [(top, left), *spots], strict=True):
        before[row : row + 3, column : column + 3] = ring
    return before, rings[0]


def verify(grid: Grid) -> Grid:
    inside = crop(grid, grid == ORANGE)
    return crop(inside, (inside != ORANGE) & (inside != FLOOR))
