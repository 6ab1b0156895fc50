"""Each figure moves down by as many rows as it has cells; what leaves the grid is lost."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, objects, paint, place, random_shape

GROUND, SIDE = 7, 10
FIGURES = [2, 5, 9]


def generate(rng: Random) -> tuple[Grid, Grid]:
    shapes = []
    for _ in FIGURES:
        shape = random_shape(rng, rng.randint(1, 4), rng.randint(1, 4), 0.3)
        if shape.sum() > 6:
            raise Retry
        shapes.append(shape)
    before, after = canvas(SIDE, SIDE), canvas(SIDE, SIDE)
    for shape, (top, left), color in zip(
        shapes, place(rng, before.shape, [s.shape for s in shapes]), rng.sample(FIGURES, 3), strict=True
    ):
        paint(before, shape, top, left, color)
        fallen = canvas(SIDE, SIDE)
        paint(fallen, shape, top + int(shape.sum()), left, color)
        if not fallen.any() or (after[fallen > 0] > 0).any():
            raise Retry
        after += fallen
    return np.where(before, before, GROUND), np.where(after, after, GROUND)


def verify(grid: Grid) -> Grid:
    output = canvas(*grid.shape, GROUND)
    for figure in objects(grid, GROUND):
        for row, column in figure.cells:
            if row + figure.size < len(grid):
                output[row + figure.size, column] = figure.color
    return output
