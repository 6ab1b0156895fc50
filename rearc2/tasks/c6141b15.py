"""The line and the figures change places: a figure is drawn at each end of the line, and the centres of the figures are
joined by lines."""

from itertools import combinations
from random import Random

import numpy as np

from rearc2.helpers import (
    Grid,
    Mask,
    Retry,
    box,
    canvas,
    colors,
    grow,
    label,
    line,
    objects,
    paint,
    retrying,
    scatter,
)

FLOOR = 7
Place = tuple[int, int]
STEPS = [(0, 1), (1, 0), (1, 1), (1, -1)]


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(10, 20)
    size = rng.choice([(1, 1), (3, 3), (3, 3), (3, 3), (3, 3), (3, 3), (5, 3), (3, 5)])
    figure = retrying(lambda: _figure(rng, *size))
    line_color, figure_color = colors(rng, 2, without=(0, FLOOR))
    (down, right), length = rng.choice(STEPS), rng.randint(4, 10)
    ends = [(0, 0), (length * down, length * right)]
    (down, right), length = rng.choice(STEPS), rng.randint(4, 10)
    centres = [(0, 0), (length * down, length * right)]
    if rng.random() < 0.8:
        # The third corner of a triangle with two equal sides and a right angle.
        sign = rng.choice([1, -1])
        centres.append((sign * length * right, -sign * length * down))
    ends, centres = _shifted(rng, ends, side, size), _shifted(rng, centres, side, size)
    before = _picture(side, figure, figure_color, centres, line_color, [(ends[0], ends[1])])
    return before, _picture(side, figure, figure_color, ends, line_color, list(combinations(centres, 2)))


def _figure(rng: Random, height: int, width: int) -> Mask:
    """A figure with both mirror symmetries, such as a plus or a cross, that holds together at least by its corners."""
    quarter = scatter(rng, (height // 2 + 1, width // 2 + 1), 0.5)
    half = np.hstack([quarter, quarter[:, -2::-1]])
    figure = np.vstack([half, half[-2::-1]])
    if not figure.any() or box(figure) != (0, 0, height, width) or label(figure)[1] != 1:
        raise Retry
    return figure


def _shifted(rng: Random, places: list[Place], side: int, size: tuple[int, int]) -> list[Place]:
    """The places moved at random so that a figure around each of them lies in the grid."""
    moves = []
    for axis in (0, 1):
        values = [place[axis] for place in places]
        lowest, highest = size[axis] // 2 - min(values), side - 1 - size[axis] // 2 - max(values)
        if highest < lowest:
            raise Retry
        moves.append(rng.randint(lowest, highest))
    return [(row + moves[0], column + moves[1]) for row, column in places]


def _picture(
    side: int,
    figure: Mask,
    figure_color: int,
    centres: list[Place],
    line_color: int,
    lines: list[tuple[Place, Place]],
) -> Grid:
    """Figures and lines on the floor, none of which touch but the lines of a triangle."""
    grid = canvas(side, side)
    height, width = figure.shape
    for start, end in lines:
        line(grid, start, end, line_color)
    for row, column in centres:
        top, left = row - height // 2, column - width // 2
        near = np.zeros((side, side), bool)
        near[top : top + height, left : left + width] = True
        if grid[grow(near)].any():
            raise Retry
        paint(grid, figure, top, left, figure_color)
    return np.where(grid == 0, FLOOR, grid)


def verify(grid: Grid) -> Grid:
    output = np.full_like(grid, FLOOR)
    things = objects(grid, background=FLOOR)
    tones = [thing.color for thing in things]
    (bar,) = [thing for thing in things if tones.count(thing.color) == 1]
    figures = [thing for thing in things if thing is not bar]
    centres = [((thing.top + thing.bottom) // 2, (thing.left + thing.right) // 2) for thing in figures]
    for start, end in combinations(centres, 2):
        line(output, start, end, bar.color)
    for row, column in (bar.cells[0], bar.cells[-1]):
        top, left = row - figures[0].height // 2, column - figures[0].width // 2
        part = output[top : top + figures[0].height, left : left + figures[0].width]
        part[figures[0].mask] = figures[0].color
    return output
