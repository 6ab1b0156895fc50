"""The figure falls into the cup below it and comes out of the other cup, which is upside down: it ends on the bottom
row beneath that one's opening."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors, objects, paint, random_shape

GROUND, CUP = 7, 4


def generate(rng: Random) -> tuple[Grid, Grid]:
    side, opening = rng.randint(8, 14), rng.randint(1, 3)
    if 2 * (opening + 2) >= side:
        opening = 1
    height = rng.randint(1, min(4, side - 6))
    figure = random_shape(rng, height, opening, rng.uniform(0.5, 1))
    room = side - 2 * (opening + 2) - 1
    lower_left = rng.randint(0, min(room, 2))
    upper_left = side - opening - 2 - (rng.randint(0, min(2, room - lower_left)) if rng.random() < 0.3 else 0)
    (color,) = colors(rng, 1, without=(0, GROUND, CUP))
    before = canvas(side, side, GROUND)
    for row, wall_row, left in ((0, 1, upper_left), (side - 1, side - 2, lower_left)):
        before[row, left : left + opening + 2] = CUP
        before[wall_row, [left, left + opening + 1]] = CUP
    after = before.copy()
    paint(before, figure, rng.randint(1, side - 3 - height), lower_left + 1, color)
    paint(after, figure, side - height, upper_left + 1, color)
    return (before[:, ::-1], after[:, ::-1]) if rng.random() < 0.5 else (before, after)


def verify(grid: Grid) -> Grid:
    ((upper),) = [thing for thing in objects(grid, GROUND) if thing.color == CUP and thing.top == 0]
    (figure,) = [thing for thing in objects(grid, GROUND) if thing.color != CUP]
    output = np.where(grid == figure.color, GROUND, grid)
    paint(output, figure.patch, len(grid) - figure.height, upper.left + 1)
    return output
