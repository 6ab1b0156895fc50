"""Panels side by side exchange their figures; a figure takes the background colour of the panel it comes from, so that
it vanishes where both panels have the same background."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, objects, random_shape, scatter


def generate(rng: Random) -> tuple[Grid, Grid]:
    rows, height, width = rng.randint(2, 4), rng.randint(6, 9), rng.randint(6, 10)
    aisle = rng.randint(1, 2)
    if rows * (height + 2) - 2 > 30:
        raise Retry
    before = canvas(rows * (height + 2) - 2, 2 * width + aisle)
    after = before.copy()
    for row in range(rows):
        first, second, *inks = colors(rng, 4)
        if rng.random() < 0.2:
            second = first
        elif rng.random() < 0.3:
            inks[0] = second  # a figure may be drawn in the colour of the panel beside it
        shapes = []
        for _ in range(2):
            shape = random_shape(
                rng, rng.randint(3, height - 2), rng.randint(3, width - 2), 0.3, diagonal=True
            )
            shape &= scatter(rng, shape.shape, 0.9)
            top = rng.randint(1, height - 1 - shape.shape[0])
            left = rng.randint(1, width - 1 - shape.shape[1])
            figure = np.zeros((height, width), bool)
            figure[top : top + shape.shape[0], left : left + shape.shape[1]] = shape
            shapes.append(figure)
        if (shapes[0] == shapes[1]).all():
            raise Retry
        band = slice(row * (height + 2), row * (height + 2) + height)
        before[band, :width] = np.where(shapes[0], inks[0], first)
        before[band, -width:] = np.where(shapes[1], inks[1], second)
        after[band, :width] = np.where(shapes[1], second, first)
        after[band, -width:] = np.where(shapes[0], first, second)
    if all(len(np.unique(line)) <= 2 for line in after):  # every figure vanishes: no exchange to be seen
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    panels = objects(grid, same_color=False)
    for left, right in zip(panels[::2], panels[1::2], strict=True):
        for panel, partner in ((left, right), (right, left)):
            foreign = partner.patch != partner.color
            output[panel.slices] = np.where(foreign, partner.color, panel.color)
    return output
