"""A wire joins the two dots, from left to right or from top to bottom. It goes straight on up to each line, along the
line to the middle of its gate and through it; in the end it turns to the second dot."""

from itertools import pairwise
from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, background, canvas, colors, line

SIDE = 30


def generate(rng: Random) -> tuple[Grid, Grid]:
    ground, wall, gate, wire = colors(rng, 4, without=())
    walls = sorted(rng.sample(range(3, SIDE - 3), rng.randint(2, 5)))
    if any(b - a < 3 for a, b in pairwise(walls)):
        raise Retry
    before = canvas(SIDE, SIDE, ground)
    start = rng.randrange(SIDE), rng.randint(0, walls[0] - 2)
    end = rng.randrange(SIDE), rng.randint(walls[-1] + 2, SIDE - 1)
    corners = [start]
    for column in walls:
        middle = rng.randint(1, SIDE - 2)
        before[:, column] = wall
        before[middle - 1 : middle + 2, column] = gate
        corners += [(corners[-1][0], column - 1), (middle, column - 1)]
    corners += [(corners[-1][0], end[1]), end]
    if any(abs(a[0] - b[0]) == 1 for a, b in pairwise(corners)):
        raise Retry
    after = before.copy()
    for a, b in pairwise(corners):
        line(after, a, b, wire)
    before[start] = before[end] = wire
    return (before, after) if rng.random() < 0.5 else (before.T, after.T)


def verify(grid: Grid) -> Grid:
    ground = background(grid)
    upright = (grid != ground).all(axis=0).any()
    output = (grid if upright else grid.T).copy()
    counts = np.bincount(grid.ravel(), minlength=10)
    wire = int(np.flatnonzero(counts == 2)[0])
    (row, column), (last_row, last_column) = sorted(
        np.argwhere(output == wire).tolist(), key=lambda dot: dot[1]
    )
    walls = np.flatnonzero((output != ground).all(axis=0)).tolist()
    for wall in walls:
        colors_of_wall = output[:, wall]
        wall_color = np.bincount(colors_of_wall).argmax()
        middle = int(np.flatnonzero(colors_of_wall != wall_color)[1])
        output[row, column:wall] = wire
        output[min(row, middle) : max(row, middle) + 1, wall - 1] = wire
        row, column = middle, wall
    output[row, column : last_column + 1] = wire
    output[min(row, last_row) : max(row, last_row) + 1, last_column] = wire
    return output if upright else output.T
