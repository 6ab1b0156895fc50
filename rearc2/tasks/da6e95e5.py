"""Each figure stands between four corner pieces; the figure that has the colour of its own corner pieces is cut
out."""

from random import Random

import numpy as np

from rearc2.helpers import (
    Grid,
    background,
    canvas,
    colors,
    objects,
    paint,
    place,
    random_shape,
    symmetric_shape,
)


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(2, 5), rng.randint(2, 5)
    count = rng.randint(4, 6)
    arm = rng.randint(2, 3 if min(height, width) > 2 else 2)
    ground, *palette = colors(rng, rng.randint(6, 8))
    same = rng.choice(palette) if rng.random() < 0.2 else None  # all corner pieces of one colour
    corners = _corners(height + 4, width + 4, arm)
    grid = canvas(30, 30, ground)
    figures = []
    for number, (top, left) in enumerate(place(rng, grid.shape, [corners.shape] * count, margin=1)):
        color = same or rng.choice(palette)
        figure_color = color if number == 0 else rng.choice([other for other in palette if other != color])
        make = rng.choice([symmetric_shape, symmetric_shape, random_shape])
        figure = make(rng, height, width, rng.uniform(0.5, 0.8))
        if make is random_shape:
            figure = random_shape(rng, height, width, rng.uniform(0.4, 0.7), diagonal=True)
        paint(grid, corners, top, left, color)
        paint(grid, figure, top + 2, left + 2, figure_color)
        figures.append(np.where(figure, figure_color, ground))
    return grid, figures[0]


def _corners(height: int, width: int, arm: int) -> Grid:
    corners = canvas(height, width)
    corners[[0, -1], :arm] = corners[[0, -1], -arm:] = 1
    corners[:arm, [0, -1]] = corners[-arm:, [0, -1]] = 1
    return corners


def verify(grid: Grid) -> Grid:
    padded = np.pad(grid, 2, constant_values=background(grid))
    for figure in objects(padded, background(grid)):
        rows, columns = [figure.top - 2, figure.bottom + 2], [figure.left - 2, figure.right + 2]
        if min(rows + columns) >= 0 and max(rows) < len(padded) and max(columns) < padded.shape[1]:
            if (padded[np.ix_(rows, columns)] == figure.color).all():
                return padded[figure.slices]
    raise ValueError("no figure has the colour of its corner pieces")
