"""A figure leans on the left of the yellow axis. It is turned by 180 degrees about the middle of the grid, so that its
image leans on the right of the axis."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors

ORANGE, AXIS, MARK = 7, 4, 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    half = rng.randint(6, 11)
    before = canvas(2 * half + 1, 2 * half + 1, ORANGE)
    figure = _figure(rng, 2 * half + 1, half)
    before[:, :half] = figure
    before[:, half] = AXIS
    before[half, [0, half, 2 * half]] = MARK
    after = before.copy()
    after[:, half + 1 :] = before[:, :half][::-1, ::-1]
    if (figure == figure[::-1]).all():  # a mirror image would do as well
        raise Retry
    return before, after


def _figure(rng: Random, height: int, width: int) -> Grid:
    """A ragged outline whose inside is coloured by depth, or in bars with a spine along the axis."""
    palette = colors(rng, rng.randint(3, 7), without=(ORANGE, AXIS, MARK))
    figure = canvas(height, width, ORANGE)
    top, end = rng.randint(1, 5), height - rng.randint(1, 5)
    reach = rng.randint(1, 3)
    thickness = [rng.randint(1, 2) for _ in palette]
    by_depth = np.repeat(palette, thickness)
    bars = rng.random() < 0.4
    bar_height = rng.randint(1, 3)
    middle = rng.uniform(0.35, 0.65) * (top + end)
    for row in range(top, end):
        reach += rng.choice((0, 1, 2)) if row < middle else rng.choice((0, -1, -2))
        reach = min(max(reach, 1), width - 2)
        for step in range(reach):  # from the outline in, up to the axis
            if bars and 0 < step < reach - 1:
                color = palette[2 + row // bar_height % (len(palette) - 2)]
            elif bars:
                color = palette[0 if step == 0 else 1]
            else:
                color = by_depth[min(step, len(by_depth) - 1)]
            figure[row, width - reach + step] = color
    return figure


def verify(grid: Grid) -> Grid:
    return np.where(grid == ORANGE, np.rot90(grid, 2), grid)
