"""Each figure stands between four corner pieces; the figure that has the colour of its own corner pieces is cut
out."""

from random import Random

import numpy as np

from rearc2.helpers import (
    Grid,
    Mask,
    Retry,
    background,
    canvas,
    colors,
    objects,
    paint,
    place,
    random_shape,
    retrying,
)


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(2, 5), rng.randint(2, 5)
    count = rng.randint(4, 6)
    arm = rng.randint(2, 3 if min(height, width) > 2 else 2)
    ground, *palette = colors(rng, rng.randint(6, 9))
    same = rng.choice(palette) if rng.random() < 0.2 else None  # all corner pieces of one colour
    corners = _corners(height + 4, width + 4, arm)
    grid = canvas(30, 30, ground)
    figures = []
    for number, (top, left) in enumerate(place(rng, grid.shape, [corners.shape] * count, margin=1)):
        color = same or rng.choice(palette)
        figure_color = color if number == 0 else rng.choice([other for other in palette if other != color])
        figure = retrying(lambda: _figure(rng, height, width))
        paint(grid, corners, top, left, color)
        paint(grid, figure, top + 2, left + 2, figure_color)
        figures.append(np.where(figure, figure_color, ground))
    return grid, figures[0]


def _figure(rng: Random, height: int, width: int) -> Mask:
    figure = random_shape(rng, height, width, rng.uniform(0.3, 0.6), diagonal=True)
    if width > 2 and rng.random() < 0.7:
        figure = figure | figure[:, ::-1]
    if figure.all():
        raise Retry
    return figure


def _corners(height: int, width: int, arm: int) -> Grid:
    corners = canvas(height, width)
    corners[[0, -1], :arm] = corners[[0, -1], -arm:] = 1
    corners[:arm, [0, -1]] = corners[-arm:, [0, -1]] = 1
    return corners


def verify(grid: Grid) -> Grid:
    ground = background(grid)
    padded = np.pad(grid, 2, constant_values=ground)
    for figure in objects(padded, ground):
        corners = np.ix_([figure.top - 2, figure.bottom + 2], [figure.left - 2, figure.right + 2])
        if (padded[corners] == figure.color).all():
            return padded[figure.slices]
    raise ValueError("no figure has the colour of its corner pieces")
