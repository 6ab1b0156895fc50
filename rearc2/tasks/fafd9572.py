"""The blue copies of the small many-coloured figure stand like its cells: each copy takes the colour of the cell that
has its place."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, objects, paint, place, random_cells, random_shape

BLUE = 1


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.choice([2, 3, 3, 3, 4])
    figure = random_shape(rng, side, side, rng.uniform(0.5, 0.8), diagonal=True)
    cells = random_cells(rng, figure.shape, colors(rng, rng.randint(2, 4), without=(0, BLUE))) * figure
    if figure.all() or len(np.unique(cells)) < 3:
        raise Retry
    span = side * (side + 1) - 1  # the copies are one cell apart
    shape = rng.randint(span + 1, min(30, span + 7)), rng.randint(span + side + 2, min(30, span + side + 8))
    if rng.random() < 0.5:
        shape = shape[1], shape[0]
    before, after = canvas(*shape), canvas(*shape)
    (top, left), corner = place(rng, shape, [(span, span), (side, side)])
    for row, column in np.argwhere(figure).tolist():
        spot = top + row * (side + 1), left + column * (side + 1)
        paint(before, figure, *spot, BLUE)
        paint(after, figure, *spot, int(cells[row, column]))
    for grid in (before, after):
        paint(grid, cells, *corner)
    return before, after


def verify(grid: Grid) -> Grid:
    (figure,) = [thing for thing in objects(grid, same_color=False) if not (thing.patch == BLUE).any()]
    output = grid.copy()
    top, left = np.argwhere(grid == BLUE).min(axis=0).tolist()
    pitch = figure.height + 1
    for row, column in np.argwhere(grid == BLUE).tolist():
        output[row, column] = figure.patch[(row - top) // pitch, (column - left) // pitch]
    return output
