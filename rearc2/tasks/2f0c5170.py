"""Two black windows: a small one with a yellow shape that has one key cell of another colour, and a larger one with the
key cell alone. The output is the larger window with the whole shape around its key cell."""

from random import Random

import numpy as np

from rearc2.helpers import (
    Grid,
    Mask,
    Retry,
    canvas,
    colors,
    fill,
    objects,
    paint,
    place,
    random_shape,
    symmetric_shape,
)

WALL, SHAPE = 8, 4


def generate(rng: Random) -> tuple[Grid, Grid]:
    shape = _shape(rng)
    height, width = shape.shape
    (color,) = colors(rng, 1, without=(0, SHAPE, WALL))
    figure = np.where(shape, SHAPE, 0)
    key_row, key_column = rng.choice([(r, c) for r, c in np.argwhere(shape).tolist()])
    figure[key_row, key_column] = color

    top_edge, left_edge = rng.randint(0, 1), rng.randint(0, 1)  # black around the shape in its window
    small = (height + top_edge + rng.randint(0, 2), width + left_edge + rng.randint(0, 2))
    large = (rng.randint(max(5, height), 9), rng.randint(max(5, width), 10))
    if large[0] * large[1] <= small[0] * small[1]:
        raise Retry
    output = canvas(*large)
    down, right = rng.randint(0, large[0] - height), rng.randint(0, large[1] - width)
    paint(output, figure, down, right)

    grid = canvas(rng.randint(16, 26), rng.randint(16, 26), WALL)
    (top, left), (other_top, other_left) = place(rng, grid.shape, [small, large], margin=1)
    fill(grid, top, left, *small, 0)
    paint(grid, figure, top + top_edge, left + left_edge)
    fill(grid, other_top, other_left, *large, 0)
    grid[other_top + down + key_row, other_left + right + key_column] = color
    return grid, output


def _shape(rng: Random) -> Mask:
    height, width, density = rng.randint(3, 5), rng.randint(3, 6), rng.uniform(0.5, 0.75)
    if rng.random() < 0.5:
        shape = symmetric_shape(rng, height, width, density, rng.choice(["lr", "ud"]))
    else:
        shape = random_shape(rng, height, width, density)
    if shape.all():
        raise Retry
    return shape


def verify(grid: Grid) -> Grid:
    windows = [grid[window.slices] for window in objects(grid, background=WALL, same_color=False)]
    few, many = sorted(windows, key=lambda window: int((window != 0).sum()))
    (key,) = np.unique(few[few != 0])
    row, column = np.argwhere(few == key)[0] - np.argwhere(many == key)[0]
    output = few.copy()
    paint(output, many, int(row), int(column))
    return output
