"""The black windows, all of one size, are laid on top of each other: the answer shows the figures of all of them."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, background, canvas, colors, grow, objects, place

SIDE = 16


def generate(rng: Random) -> tuple[Grid, Grid]:
    window = rng.randint(3, 5), rng.randint(3, 5)
    count = rng.randint(2, 5)
    wall, *palette = colors(rng, count + 1)
    after = canvas(*window)
    for color in palette:
        after[_figure(rng, after != 0)] = color
    before = canvas(SIDE, SIDE, wall)
    for color, (top, left) in zip(palette, place(rng, before.shape, [window] * count, margin=1), strict=True):
        before[top : top + window[0], left : left + window[1]] = np.where(after == color, color, 0)
    return before, after


def _figure(rng: Random, taken: Mask) -> Mask:
    """A connected figure of 1 to 5 cells on free cells, next to what is taken already."""
    figure = np.zeros(taken.shape, bool)
    start = grow(taken, diagonal=False) & ~taken if taken.any() else ~taken
    for _ in range(rng.randint(1, 5)):
        free = np.argwhere(start)
        if not len(free):
            break
        figure[tuple(free[rng.randrange(len(free))])] = True
        start = grow(figure, diagonal=False) & ~taken & ~figure
    if not figure.any():
        raise Retry
    return figure


def verify(grid: Grid) -> Grid:
    wall = background(grid)
    windows = [grid[thing.slices] for thing in objects(grid, background=wall, same_color=False)]
    return np.maximum.reduce(windows)
