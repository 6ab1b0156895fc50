"""Every pink figure takes the colour of the dot below it (figures side by side) or at its right (figures one below the
other). The figures, cut out of their 4x4 boxes, are joined in that order."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors, objects, paint, random_shape

PINK = 6
BOX, PITCH = 4, 6


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(2, 4)
    # Drawn side by side; the other kind is the transposed picture.
    height, width = rng.randint(9, 13), PITCH * count + rng.randint(0, 2)
    before, after = canvas(height, width), canvas(BOX, BOX * count)
    for number, color in enumerate(colors(rng, count, without=(0, PINK))):
        figure = random_shape(rng, BOX, BOX, rng.uniform(0.35, 0.55), diagonal=rng.random() < 0.2)
        top, left = rng.randint(1, height - BOX - 3), 1 + PITCH * number
        paint(before, figure, top, left, PINK)
        before[top + BOX + 1, left + rng.randrange(BOX)] = color
        paint(after, figure, 0, BOX * number, color)
    return (before, after) if rng.random() < 0.5 else (before.T, after.T)


def verify(grid: Grid) -> Grid:
    figures = [thing for thing in objects(grid) if thing.color == PINK]
    tops, lefts = sorted(figure.top for figure in figures), sorted(figure.left for figure in figures)
    side_by_side = lefts[-1] - lefts[0] > tops[-1] - tops[0]
    if not side_by_side:
        return verify(grid.T).T
    boxes = []
    for figure in sorted(figures, key=lambda figure: figure.left):
        band = grid[:, figure.left : figure.right + 1]
        (color,) = set(np.unique(band).tolist()) - {0, PINK}
        boxes.append(figure.mask * color)
    return np.hstack(boxes)
