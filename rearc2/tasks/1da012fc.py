"""The grey field is a map: its coloured dots lie to one another as the figures do in the grid. Each figure takes the
colour of its dot."""

from collections.abc import Iterable
from itertools import permutations
from random import Random

import numpy as np
import numpy.typing as npt

from rearc2.helpers import (
    Grid,
    Mask,
    Retry,
    box,
    canvas,
    colors,
    fill,
    objects,
    paint,
    random_shape,
    retrying,
    symmetric_shape,
)

MAP = 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    rows, columns = rng.randint(4, 7), rng.randint(3, 6)  # of the part of the map that has dots
    dots = retrying(lambda: _dots(rng, rows, columns))
    color, *dot_colors = colors(rng, len(dots) + 1, without=(0, MAP))
    down, right = 2, rng.choice([2, 2, 3])  # steps in the grid for one step in the map
    above = rng.randint(2, 4)
    shape = above + down * (rows - 1) + rng.randint(3, 6), right * (columns - 1) + 6
    before, after = canvas(*shape), canvas(*shape)
    for (r, c), dot_color in zip(dots, dot_colors, strict=True):
        figure, top, left = _figure(rng, before, above + down * r, 3 + right * c)
        paint(before, figure, top, left, color)
        paint(after, figure, top, left, dot_color)

    chart = canvas(shape[0], columns + rng.randint(2, 4))
    chart_top = rng.randint(0, shape[0] - rows - 2)
    fill(chart, chart_top, 0, rows + 2, columns + 2, MAP)
    for (r, c), dot_color in zip(dots, dot_colors, strict=True):
        chart[chart_top + 1 + r, 1 + c] = dot_color
    margin = canvas(shape[0], 1)
    if shape[1] + chart.shape[1] + 1 > 30:
        raise Retry
    if rng.random() < 0.5:
        return np.hstack([margin, chart, before]), np.hstack([margin, chart, after])
    return np.hstack([before, margin, chart]), np.hstack([after, margin, chart])


def _dots(rng: Random, rows: int, columns: int) -> list[tuple[int, int]]:
    """Places of the map, apart from one another and reaching to all four sides."""
    dots = rng.sample([(r, c) for r in range(rows) for c in range(columns)], rng.randint(3, 5))
    near = any(max(abs(r - s), abs(c - d)) < 2 for r, c in dots for s, d in dots if (r, c) != (s, d))
    if near or {0, rows - 1} - {r for r, _ in dots} or {0, columns - 1} - {c for _, c in dots}:
        raise Retry
    return dots


def _figure(rng: Random, grid: Grid, row: int, column: int) -> tuple[Mask, int, int]:
    """A figure that fits into the grid with its middle at the place, give or take half a cell; and its corner."""
    for _ in range(50):
        height, width = rng.choice([2, 3, 3, 3, 4]), rng.choice([3, 3, 4, 5, 5])
        make = symmetric_shape if rng.random() < 0.8 else random_shape
        figure = make(rng, height, width, rng.uniform(0.4, 0.7))
        top, left = row - (height - rng.randrange(2)) // 2, column - (width - rng.randrange(2)) // 2
        around = grid[max(0, top - 1) : top + height + 1, max(0, left - 1) : left + width + 1]
        if top >= 0 and top + height <= len(grid) and not around.any():
            return figure, top, left
    raise Retry


def verify(grid: Grid) -> Grid:
    top, left, height, width = box(grid == MAP)
    chart = np.zeros(grid.shape, bool)
    chart[top : top + height, left : left + width] = True
    dots = np.argwhere(chart & (grid != MAP))
    figures = objects(np.where(chart, 0, grid))
    middles = np.array([[figure.top + figure.bottom, figure.left + figure.right] for figure in figures])
    from_dots, from_figures = _spread(dots), _spread(middles)

    def error(order: Iterable[int]) -> float:
        return float(np.sum((from_dots[list(order)] - from_figures) ** 2))

    output = grid.copy()
    for figure, number in zip(figures, min(permutations(range(len(dots))), key=error), strict=True):
        output[figure.slices][figure.mask] = grid[tuple(dots[number])]
    return output


def _spread(places: Grid) -> npt.NDArray[np.float64]:
    """Places in units of the box around them, so that arrangements of different sizes can be compared."""
    low, high = places.min(axis=0), places.max(axis=0)
    return (places - low) / (high - low)
