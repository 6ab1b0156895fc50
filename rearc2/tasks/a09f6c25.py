"""Every red figure is coloured by its symmetry: blue if it is symmetric up-down, green if left-right, purple if along a
diagonal. Single red cells disappear."""

from random import Random

import numpy as np

from rearc2.helpers import (
    Grid,
    Mask,
    Retry,
    canvas,
    objects,
    paint,
    place,
    random_shape,
    symmetric_shape,
)

RED = 2
LYING, UPRIGHT, DIAGONAL = 1, 3, 6


def generate(rng: Random) -> tuple[Grid, Grid]:
    rows, columns = rng.randint(16, 30), rng.randint(16, 30)
    ground = rng.choice([4, 5, 7, 8, 9])
    kinds = [rng.choice([LYING, UPRIGHT, DIAGONAL]) for _ in range(rng.randint(3, 3 + rows * columns // 90))]
    figures = [_figure(rng, kind) for kind in kinds]
    dots = rng.randint(3, 4 + rows * columns // 80)
    places = place(rng, (rows, columns), [figure.shape for figure in figures] + [(1, 1)] * dots)
    before, after = canvas(rows, columns, ground), canvas(rows, columns, ground)
    for kind, figure, (top, left) in zip(kinds, figures, places, strict=False):
        paint(before, figure, top, left, RED)
        paint(after, figure, top, left, kind)
    for dot in places[len(figures) :]:
        before[dot] = RED
    return before, after


def _figure(rng: Random, kind: int) -> Mask:
    """A figure with that symmetry and no other."""
    if kind == DIAGONAL:
        size = rng.randint(3, 8)
        half = random_shape(rng, size, size, rng.uniform(0.2, 0.35))
        figure = half | half.T
        if rng.random() < 0.5:
            figure = figure[:, ::-1]
    else:
        long, short = rng.randint(4, 11), rng.choice([3, 3, 5, 5, 7])
        figure = symmetric_shape(rng, long, short, rng.uniform(0.4, 0.7), "lr")
        if kind == LYING:
            figure = figure.T
    images = [figure[::-1], figure[:, ::-1], figure.T, figure[::-1, ::-1].T]
    if sum(np.array_equal(figure, image) for image in images) != 1:
        raise Retry
    return figure


def verify(grid: Grid) -> Grid:
    ground = int(np.bincount(grid.ravel()).argmax())
    output = grid.copy()
    for thing in objects(grid, background=ground):
        mask = thing.mask
        if thing.size == 1:
            color = ground
        elif np.array_equal(mask, np.flipud(mask)):
            color = LYING
        elif np.array_equal(mask, np.fliplr(mask)):
            color = UPRIGHT
        else:
            color = DIAGONAL
        output[thing.slices][mask] = color
    return output
