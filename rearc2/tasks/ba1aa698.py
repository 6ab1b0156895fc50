"""A figure moves up or down by the same step from panel to panel; the output is the next panel, in its frame."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, crop, paint, random_shape, split

HEIGHT = 16
WRONG = {"train 1": "the figure steps 3 rows from panel to panel, but 4 rows to the output"}


def generate(rng: Random) -> tuple[Grid, Grid]:
    count, width = rng.randint(3, 4), rng.randint(4, 6 if rng.random() < 0.5 else 5)
    wall, floor, figure_color = colors(rng, 3)
    if rng.random() < 0.25:
        figure_color = wall
    figure = random_shape(rng, rng.randint(1, 3), rng.randint(2, width - 2), rng.uniform(0.5, 1))
    step = rng.choice([-4, -3, -2, -1, 1, 2, 3, 4])
    left = rng.randint(1, width - figure.shape[1] - 1)
    space = HEIGHT - 4 - figure.shape[0] - count * abs(step)
    if space < 0:
        raise Retry
    first = rng.randint(0, space) + (count * -step if step < 0 else 0)
    panels = []
    for number in range(count + 1):
        panel = canvas(HEIGHT, width + 2, wall)
        panel[1:-1, 1:-1] = floor
        paint(panel, figure, 2 + first + number * step, 1 + left, figure_color)
        panels.append(panel)
    before = np.hstack([panels[0], *[panel[:, 1:] for panel in panels[1:-1]]])
    return before, panels[-1]


def verify(grid: Grid) -> Grid:
    wall = int(grid[0, 0])
    (panels,) = split(grid, wall)
    floor = int(panels[0][0, 0])
    first, second, last = (int((panel != floor).any(axis=1).argmax()) for panel in (*panels[:2], panels[-1]))
    figure = crop(panels[-1], panels[-1] != floor)
    left = int((panels[-1] != floor).any(axis=0).argmax())
    inside = np.full_like(panels[0], floor)
    paint(inside, figure, last + second - first, left)
    return np.pad(inside, 1, constant_values=wall)
