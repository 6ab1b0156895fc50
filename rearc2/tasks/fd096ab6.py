"""One figure is whole, the yellow one; all others are parts of the same figure in other colours. Each part is completed
around the cells that it shows."""

from itertools import pairwise
from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, crop, paint, place, random_shape, retrying

PAPER, WHOLE = 1, 4


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(20, 30)
    height, width = rng.randint(3, 4), rng.randint(3, 5)
    figure = random_shape(rng, height, width, rng.uniform(0.35, 0.6), diagonal=True)
    cells = np.argwhere(figure).tolist()
    if not 5 <= len(cells) <= 9:
        raise Retry
    palette = [WHOLE, *colors(rng, rng.randint(4, 7), without=(0, PAPER, WHOLE))]
    if len(palette) > 6 and rng.random() < 0.7:
        palette.append(rng.choice(palette[1:]))
    parts = [cells if color == WHOLE else retrying(lambda: _part(rng, cells)) for color in palette]
    corners = place(rng, (side, side), [figure.shape] * len(palette))
    twins = [corner for corner, color in zip(corners, palette, strict=True) if color == palette[-1]]
    for (top, left), (top2, left2) in pairwise(twins):
        if abs(top - top2) < 2 * height and abs(left - left2) < 2 * width:
            raise Retry  # two parts of one colour are not taken for one
    before, after = canvas(side, side, PAPER), canvas(side, side, PAPER)
    for color, shown, (top, left) in zip(palette, parts, corners, strict=True):
        for row, column in shown:
            before[top + row, left + column] = color
        paint(after, figure, top, left, color)
    return before, after


def _part(rng: Random, cells: list[list[int]]) -> list[list[int]]:
    """Some of the cells, mostly neighbours, that fit in one place of the figure only."""
    count = rng.randint(2, len(cells) - 2)
    if rng.random() < 0.3:
        shown = rng.sample(cells, count)
    else:
        row, column = rng.choice(cells)
        shown = sorted(cells, key=lambda cell: (cell[0] - row) ** 2 + (cell[1] - column) ** 2)[:count]
    (first, second), *rest = shown
    fitting = [all([row + r - first, column + c - second] in cells for r, c in rest) for row, column in cells]
    if sum(fitting) > 1:
        raise Retry
    return shown


def verify(grid: Grid) -> Grid:
    figure = crop(grid, grid == WHOLE) == WHOLE
    offsets = np.argwhere(figure).tolist()
    output = grid.copy()
    for color in np.unique(grid).tolist():
        left_over = {(row, column) for row, column in np.argwhere(grid == color).tolist()}
        while color != PAPER and left_over:
            row, column = min(left_over)
            corners = [(row - down, column - right) for down, right in offsets]
            covers = [{(top + down, left + right) for down, right in offsets} for top, left in corners]
            shown = [len(cover & left_over) for cover in covers]
            best = shown.index(max(shown))
            paint(output, figure, *corners[best], color)
            left_over -= covers[best]
    return output
