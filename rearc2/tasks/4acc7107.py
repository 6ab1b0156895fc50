"""The figures sink to the floor, sorted by colour into two stacks, with a gap of one cell everywhere: the colour and,
within a stack, the figure that begin further left come first, which is left and below."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, Thing, canvas, colors, objects, paint, place, random_shape, retrying

SIDE = 10
UNUSED = 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    return retrying(lambda: _draw(rng))


def _draw(rng: Random) -> tuple[Grid, Grid]:
    figures = [
        random_shape(rng, rng.randint(1, 3), rng.randint(2, 5), rng.uniform(0.5, 1.0)) for _ in range(4)
    ]
    left_color, right_color = colors(rng, 2, without=(0, UNUSED))
    places = place(rng, (SIDE, SIDE), [figure.shape for figure in figures])
    lefts = [left for _, left in places]
    centres = [2 * left + figure.shape[1] for figure, left in zip(figures, lefts, strict=True)]
    # Figures 0 and 1 make the left stack, 2 and 3 the right one; 0 and 2 lie at the bottom.
    for order in (lefts, centres):
        if not (order[0] < order[1] and order[0] < order[2] < order[3]):
            raise Retry
    beside = 1 + max(figure.shape[1] for figure in figures[:2])
    before, after = canvas(SIDE, SIDE), canvas(SIDE, SIDE)
    for number, (figure, (top, left)) in enumerate(zip(figures, places, strict=True)):
        color = left_color if number < 2 else right_color
        paint(before, figure, top, left, color)
        under = len(figures[number - 1]) + 1 if number % 2 else 0
        column = beside if number >= 2 else 0
        if under + len(figure) > SIDE or column + figure.shape[1] > SIDE:
            raise Retry
        paint(after, figure, SIDE - under - len(figure), column, color)
    return before, after


def verify(grid: Grid) -> Grid:
    return _stacked(grid, sorted(objects(grid), key=lambda figure: figure.left))


def rival(grid: Grid) -> Grid:
    """The figure whose centre, not whose edge, lies further left comes first."""
    return _stacked(grid, sorted(objects(grid), key=lambda figure: figure.left + figure.right))


def _stacked(grid: Grid, figures: list[Thing]) -> Grid:
    output = np.zeros_like(grid)
    column = 0
    for color in dict.fromkeys(figure.color for figure in figures):
        stack = [figure for figure in figures if figure.color == color]
        floor = len(grid)
        for figure in stack:
            paint(output, figure.patch, floor - figure.height, column)
            floor -= figure.height + 1
        column += max(figure.width for figure in stack) + 1
    return output
