"""The orange figure is repeated to the right, one cell apart, until the grid ends; every third copy is magenta, and
magenta copies are repeated downwards too."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, box, canvas, crop, label, paint, scatter

ORANGE, MAGENTA = 7, 6
HEIGHT, WIDTH = 23, 28


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(2, 6), rng.randint(2, 5)
    quarter = scatter(rng, ((height + 1) // 2, (width + 1) // 2), rng.uniform(0.4, 0.9))
    # The official figures have both mirror symmetries.
    half = np.hstack([quarter, np.fliplr(quarter[:, : width // 2])])
    figure = np.vstack([half, np.flipud(half[: height // 2])])
    if figure.sum() < 4 or box(figure) != (0, 0, height, width) or label(figure)[1] > 1:
        raise Retry
    top, left = rng.randint(0, 10), rng.randint(0, 8)
    before, after = canvas(HEIGHT, WIDTH), canvas(HEIGHT, WIDTH)
    paint(before, figure, top, left, ORANGE)
    for number, copy_left in enumerate(range(left, WIDTH, width + 1), start=1):
        if number % 3:
            paint(after, figure, top, copy_left, ORANGE)
            continue
        for copy_top in range(top, HEIGHT, height + 1):
            paint(after, figure, copy_top, copy_left, MAGENTA)
    return before, after


def verify(grid: Grid) -> Grid:
    top, left, height, width = box(grid > 0)
    figure = crop(grid) > 0
    output = grid.copy()
    for row in range(top, HEIGHT):
        for column in range(left, WIDTH):
            down, in_row = divmod(row - top, height + 1)
            right, in_column = divmod(column - left, width + 1)
            if in_row < height and in_column < width and figure[in_row, in_column]:
                if right % 3 == 2:
                    output[row, column] = MAGENTA
                elif down == 0:
                    output[row, column] = ORANGE
    return output
