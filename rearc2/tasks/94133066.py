"""A blue board carries a figure and three dots near its corners; the same dots lie outside it. The board is turned or
mirrored so that its dots lie as those outside do, and it alone remains."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors, crop, paint, place, random_shape, scatter, symmetries

BLUE = 1


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(8, 14), rng.randint(8, 14)
    figure_color, *dot_colors = colors(rng, 4, without=(0, BLUE))
    figure = random_shape(rng, height - 4, width - 4, rng.uniform(0.2, 0.45), diagonal=True)
    if rng.random() < 0.3:
        figure |= scatter(rng, figure.shape, 0.05)  # loose cells
    dots = canvas(height, width)
    corners = rng.sample([(r, c) for r in (1, height - 2) for c in (1, width - 2)], 3)
    for corner, color in zip(corners, dot_colors, strict=True):
        dots[corner] = color
    board = canvas(height, width, BLUE)
    paint(board, figure, 2, 2, figure_color)
    paint(board, dots, 0, 0)
    image = rng.randrange(1, 8)  # 0 would leave the board as it is
    after, sample = symmetries(board)[image], symmetries(dots)[image][1:-1, 1:-1]
    grid_height, grid_width = rng.randint(18, 30), rng.randint(18, 30)
    before = canvas(grid_height, grid_width)
    (top, left), (sample_top, sample_left) = place(
        rng, before.shape, [board.shape, sample.shape], 2, margin=1
    )
    paint(before, board, top, left)
    paint(before, sample, sample_top, sample_left)
    return before, after


def verify(grid: Grid) -> Grid:
    rows, columns = np.nonzero(grid == BLUE)
    board = grid[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    rest = grid.copy()
    rest[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1] = 0
    sample = crop(rest)
    (output,) = [
        image
        for image in symmetries(board)
        if np.array_equal(crop(np.where(np.isin(image, sample[sample > 0]), image, 0)), sample)
    ]
    return output
