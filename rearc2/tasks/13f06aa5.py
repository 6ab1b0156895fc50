"""Every arrow shoots a dotted beam, in the colour of its tip, away from its body to the border, whose whole side gets
that colour. A corner where two coloured sides meet turns black."""

from random import Random

import numpy as np

from rearc2.helpers import SIDES, Grid, Retry, background, canvas, colors, objects, paint, place, to_top

ARROW = np.array([[1, 1, 2, 1, 1], [0, 1, 1, 1, 0]])  # the tip is 2; it points up
# The side of the grid that a beam in this direction hits.
EDGE: dict[tuple[int, int], tuple[int | slice, int | slice]] = {
    (-1, 0): np.s_[0, :],
    (1, 0): np.s_[-1, :],
    (0, -1): np.s_[:, 0],
    (0, 1): np.s_[:, -1],
}


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(10, 24), rng.randint(10, 24)
    sides = rng.sample(SIDES, rng.choice([1, 2, 2, 3, 3, 4]))
    ground, body, *tips = colors(rng, 2 + len(sides))
    arrows = [np.rot90(ARROW, -SIDES.index(side)) for side in sides]
    before = canvas(height, width, ground)
    places = place(rng, before.shape, [arrow.shape for arrow in arrows], margin=1)
    for arrow, tip, (top, left) in zip(arrows, tips, places, strict=True):
        paint(before, np.choose(arrow, [0, body, tip]), top, left)
    after = before.copy()
    taken = before != ground  # a beam crosses no arrow and no other beam
    lines = canvas(height, width)  # how many coloured sides a cell lies on
    for side, tip in zip(sides, tips, strict=True):
        row, column = np.argwhere(to_top(before, side) == tip)[0].tolist()
        path = to_top(taken, side)[:row, column]
        if path.any():
            raise Retry
        path[:] = True
        to_top(after, side)[row::-2, column] = tip
        to_top(after, side)[0] = tip
        to_top(lines, side)[0] += 1
    after[lines == 2] = 0
    return before, after


def verify(grid: Grid) -> Grid:
    ground = background(grid)
    height, width = grid.shape
    output = grid.copy()
    hits = []  # directions of the beams
    for arrow in objects(grid, ground, same_color=False):
        (tip,) = [cell for cell in arrow.cells if grid[cell] != arrow.color]
        row, column = tip
        ((down, right),) = [step for step in EDGE if grid[row + step[0], column + step[1]] == ground]
        while 0 <= row < height and 0 <= column < width:
            output[row, column] = grid[tip]
            row, column = row + 2 * down, column + 2 * right
        hits.append((down, right))
        output[EDGE[down, right]] = grid[tip]
    for vertical in hits:
        for horizontal in hits:
            if vertical[0] and horizontal[1]:
                output[EDGE[vertical][0], EDGE[horizontal][1]] = 0
    return output
