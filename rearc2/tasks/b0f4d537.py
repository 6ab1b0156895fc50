"""A small drawing of crossing lines beside a panel whose yellow dots tell where the lines cross and end. The answer
is the drawing stretched to the panel: lines go where the dots are, every crossing keeps its colour."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, split

GREY, DOT = 5, 4
WIDTH = 7


def generate(rng: Random) -> tuple[Grid, Grid]:
    height = rng.randint(7, 16)
    level_count, upright_count = rng.choice([(1, 2), (2, 1), (2, 2), (1, 3), (2, 3), (3, 1), (3, 2), (3, 3)])
    levels, uprights = _lines(rng, height, level_count), _lines(rng, WIDTH, upright_count)
    # Three colours, and none of them runs both ways.
    *two, one = rng.sample([1, 2, 3], 3)
    if upright_count == 1 or (level_count > 1 and rng.random() < 0.5):
        level_colors, upright_colors = _paints(rng, two, level_count), [one] * upright_count
    else:
        level_colors, upright_colors = [one] * level_count, _paints(rng, two, upright_count)
    drawing = canvas(2 * level_count + 1, 2 * upright_count + 1)
    after, dots = canvas(height, WIDTH), canvas(height, WIDTH)
    for grid, rows, columns in (
        (drawing, range(1, 2 * level_count, 2), range(1, 2 * upright_count, 2)),
        (after, levels, uprights),
    ):
        for column, color in zip(columns, upright_colors, strict=True):
            grid[:, column] = color
        for row, color in zip(rows, level_colors, strict=True):
            grid[row] = color
    style = rng.choice(["level", "upright", "mixed"])
    for i, row in enumerate(levels):
        dots[row, [0, -1]] = DOT
        for j, column in enumerate(uprights):
            dots[[0, -1], column] = dots[row, column] = DOT
            if style == "upright" or (style == "mixed" and rng.random() < 0.5):
                after[row, column] = drawing[2 * i + 1, 2 * j + 1] = upright_colors[j]
    key = np.full((height, drawing.shape[1]), GREY)
    key[: drawing.shape[0]] = drawing
    wall = np.full((height, 1), GREY)
    return np.hstack([key, wall, dots] if rng.random() < 0.5 else [dots, wall, key]), after


def _lines(rng: Random, length: int, count: int) -> list[int]:
    """Places for lines that touch neither each other nor the border."""
    places = sorted(rng.sample(range(1, length - count), count))
    return [place + number for number, place in enumerate(places)]


def _paints(rng: Random, palette: list[int], count: int) -> list[int]:
    paints = palette + [rng.choice(palette) for _ in range(count - len(palette))]
    rng.shuffle(paints)
    return paints


def verify(grid: Grid) -> Grid:
    (panels,) = split(grid, GREY)
    (dots,) = [panel for panel in panels if (panel == DOT).any()]
    (key,) = [panel for panel in panels if not (panel == DOT).any()]
    drawing = key[(key != GREY).all(axis=1)]
    levels, uprights = dots[:, 0] == DOT, dots[0] == DOT
    # Between two lines the drawing has one row (or column), the panel any number.
    rows = 2 * (np.cumsum(levels) - levels) + levels
    columns = 2 * (np.cumsum(uprights) - uprights) + uprights
    return drawing[np.ix_(rows, columns)]
