"""One grey cell belongs to a figure, the other lies alone: the figure is copied so that its grey cell falls on the lone
one, and the copy has black there."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, grow, objects, paint, place, random_shape

GREY = 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(9, 16), rng.randint(9, 16)
    figure = _figure(rng)
    anchor_row, anchor_column = np.argwhere(figure == GREY)[0].tolist()
    before = canvas(height, width)
    (top, left), (copy_top, copy_left) = place(rng, before.shape, [figure.shape] * 2, gap=rng.randint(0, 1))
    paint(before, figure, top, left)
    if grow(before != 0)[copy_top + anchor_row, copy_left + anchor_column]:  # would not be alone
        raise Retry
    after = before.copy()
    before[copy_top + anchor_row, copy_left + anchor_column] = GREY
    paint(after, np.where(figure == GREY, 0, figure), copy_top, copy_left)
    return before, after


def _figure(rng: Random) -> Grid:
    """A connected shape of coloured pieces, in its box; one of its cells is grey."""
    mask = random_shape(rng, rng.randint(2, 5), rng.randint(2, 6), rng.uniform(0.4, 0.7))
    palette = colors(rng, rng.randint(2, 5), without=(0, GREY))
    figure = np.zeros(mask.shape, np.int64)
    cells = np.argwhere(mask).tolist()
    if len(cells) < 5:
        raise Retry
    # Pieces: every cell takes the colour of the nearest seed.
    seeds = rng.sample(cells, min(len(cells), len(palette) + rng.randint(0, 2)))
    for r, c in cells:
        nearest = min(range(len(seeds)), key=lambda k: abs(seeds[k][0] - r) + abs(seeds[k][1] - c))
        figure[r, c] = palette[nearest % len(palette)]
    r, c = rng.choice(cells)
    figure[r, c] = GREY
    return figure


def verify(grid: Grid) -> Grid:
    figure = max(objects(grid, same_color=False), key=lambda thing: thing.size)
    alone = [place for place in np.argwhere(grid == GREY).tolist() if tuple(place) not in figure.cells]
    own_row, own_column = np.argwhere(figure.patch == GREY)[0]
    row, column = alone[0]
    output = grid.copy()
    output[row, column] = 0
    colored = np.where(figure.patch == GREY, 0, figure.patch)
    paint(output, colored, row - int(own_row), column - int(own_column))
    return output
