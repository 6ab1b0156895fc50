"""The first panel gives a figure, the second a plan, the last two the colours of figure and ground. The output is the
plan with a copy of the figure for each of its cells."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, colors, random_shape

FIGURE, PLAN, WALL = 1, 2, 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    size = rng.randint(3, 5)
    figure, plan = (random_shape(rng, size, size, rng.uniform(0.4, 0.75), diagonal=True) for _ in range(2))
    if figure.all() or plan.all():
        raise Retry
    color, ground = colors(rng, 2, without=(0, FIGURE, PLAN, WALL))
    full = np.ones((size, size), bool)
    panels = [_panel(figure, FIGURE), _panel(plan, PLAN), _panel(full, color), _panel(full, ground)]
    wall = canvas(size + 2, 1, WALL)
    before = np.hstack([part for panel in panels for part in (wall, panel)][1:])[:, :30]  # no grid is wider
    after = canvas(size * size, size * size, ground)
    for row, column in np.argwhere(plan):
        after[row * size :, column * size :][:size, :size][figure] = color
    return before, after


def _panel(mask: Mask, color: int) -> Grid:
    return np.pad(np.where(mask, color, 0), 1)


def verify(grid: Grid) -> Grid:
    size = grid.shape[0] - 2
    figure, plan, first, second = (grid[1:-1, 1 + (size + 3) * number :][:, :size] for number in range(4))
    copies = np.kron(plan == PLAN, figure == FIGURE)
    return np.where(copies, first[0, 0], second[0, 0])
