"""A panel holds a grid of windows, and a window may hold a coloured mark. The answer has one cell per window: the
mark's colour, or the window's own where there is none."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, fill, split


def generate(rng: Random) -> tuple[Grid, Grid]:
    wall, panel = colors(rng, 2, ())
    marks = colors(rng, rng.randint(1, 6), (wall, panel))
    rows, height = _spans(rng, rng.choice([2, 2, 3, 3, 4]))
    columns, width = _spans(rng, rng.choice([2, 2, 3, 3, 4]))
    side = max(height, width) + 2 + rng.randint(0, 2)
    if side > 30 or abs(height - width) > 6:
        raise Retry
    before, after = canvas(side, side, wall), canvas(len(rows), len(columns), wall)
    top = rng.randint(1, min(4, side - height - 1))
    left = rng.randint(1, min(4, side - width - 1))
    fill(before, top, left, height, width, panel)
    density = rng.uniform(0.3, 0.9)
    for i, (down, window_height) in enumerate(rows):
        for j, (right, window_width) in enumerate(columns):
            fill(before, top + down, left + right, window_height, window_width, wall)
            if rng.random() < density:
                after[i, j] = rng.choice(marks)
                mark_top, mark_height = _inside(rng, window_height)
                mark_left, mark_width = _inside(rng, window_width)
                place = top + down + mark_top, left + right + mark_left
                fill(before, *place, mark_height, mark_width, int(after[i, j]))
    if (after == after[0, 0]).all():
        raise Retry
    return before, after


def _spans(rng: Random, count: int) -> tuple[list[tuple[int, int]], int]:
    """(start, length) of windows along one side of the panel, and the panel's length."""
    spans, place, most = [], rng.randint(1, 2), rng.randint(3, 6)
    for _ in range(count):
        length = rng.randint(3, most)
        spans.append((place, length))
        place += length + rng.randint(1, 2)
    return spans, place


def _inside(rng: Random, length: int) -> tuple[int, int]:
    """Start and length of a mark that leaves a cell of the window at both ends."""
    size = rng.randint(1, length - 2)
    return rng.randint(1, length - 1 - size), size


def verify(grid: Grid) -> Grid:
    wall = grid[0, 0]
    rows, columns = np.nonzero(grid != wall)
    inside = grid[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    windows = split(inside, inside[0, 0])
    return np.array(
        [[max(window.ravel(), key=lambda cell: cell != wall) for window in row] for row in windows]
    )
