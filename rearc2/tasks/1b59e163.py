"""Each figure has one cell of a colour of its own. It goes from where it stands to every single cell of that colour,
so that the two coincide. Single cells that belong to no figure (grey) disappear."""

from random import Random

import numpy as np

from rearc2.helpers import (
    Grid,
    Retry,
    canvas,
    label,
    objects,
    paint,
    place,
    random_shape,
    symmetric_shape,
)

GROUND, GREY = 4, 5
SIDE = 18


def generate(rng: Random) -> tuple[Grid, Grid]:
    color, *marks = rng.sample([2, 3, 6, 7, 8, 9], rng.randint(3, 5))
    figures = [_figure(rng, mark, rng.choice([1, 1, 1, color])) for mark in marks]
    # The copies may touch one another, as they do not have to be told apart.
    copies = [figure for figure in figures for _ in range(rng.choice([1, 1, 2, 2, 3]))]
    before, after = canvas(SIDE, SIDE, GROUND), canvas(SIDE, SIDE, GROUND)
    shape = before.shape
    for copy, (top, left) in zip(
        copies, place(rng, shape, [copy.shape for copy in copies], gap=0), strict=True
    ):
        paint(after, copy, top, left)
        r, c = np.argwhere(np.isin(copy, marks))[0]
        before[top + r, left + c] = copy[r, c]
    singles = before != GROUND
    if label(singles)[1] < len(copies):
        raise Retry  # two marks touch
    figures += [np.array([[GREY]])] * rng.randint(2, 4)
    sizes = [figure.shape for figure in figures]
    for figure, (top, left) in zip(figures, place(rng, shape, sizes, taken=singles), strict=True):
        paint(before, figure, top, left)
    return before, after


def _figure(rng: Random, mark: int, color: int) -> Grid:
    """Mostly symmetric, with the mark on the axis."""
    height, width = rng.randint(2, 4), rng.choice([3, 3, 3, 5])
    if rng.random() < 0.8:
        mask, column = symmetric_shape(rng, height, width, rng.uniform(0.5, 0.8)), width // 2
    else:
        mask, column = random_shape(rng, height, width, rng.uniform(0.5, 0.8)), rng.randrange(width)
    figure = np.where(mask, color, 0)
    figure[rng.randrange(height), column] = mark
    if label(figure != 0)[1] > 1 or (figure == color).sum() < 3:
        raise Retry
    return figure


def verify(grid: Grid) -> Grid:
    things = objects(grid, background=GROUND, same_color=False)
    output = np.full_like(grid, GROUND)
    for figure in things:
        if figure.size == 1:
            continue
        (mark,) = set(figure.patch[figure.mask].tolist()) - {figure.color}
        ((row, column),) = np.argwhere(figure.patch == mark).tolist()
        for single in things:
            if single.size == 1 and single.color == mark:
                paint(output, figure.patch, single.top - row, single.left - column)
    return output
