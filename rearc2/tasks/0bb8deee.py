"""Two lines part the grid into four quarters with a 3x3 figure in each; the output puts the four figures together."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors, crop, paint, random_shape, split


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.choice(
        [(rng.randint(12, 16), rng.randint(12, 13)), (rng.randint(9, 24), rng.randint(9, 24))]
    )
    row, column = rng.randint(3, height - 4), rng.randint(3, width - 4)
    line_color, *figure_colors = colors(rng, 5)
    before, after = canvas(height, width), canvas(6, 6)
    before[row] = before[:, column] = line_color
    spans = [
        (tops, lefts)
        for tops in ((0, row), (row + 1, height))
        for lefts in ((0, column), (column + 1, width))
    ]
    for number, ((tops, lefts), color) in enumerate(zip(spans, figure_colors, strict=True)):
        figure = random_shape(rng, 3, 3, rng.uniform(0.3, 0.6), diagonal=True)
        paint(before, figure, rng.randint(tops[0], tops[1] - 3), rng.randint(lefts[0], lefts[1] - 3), color)
        paint(after, figure, 3 * (number // 2), 3 * (number % 2), color)
    return before, after


def verify(grid: Grid) -> Grid:
    # The lines' colour is the one that reaches all four sides of the grid.
    (color,) = [
        int(value)
        for value in np.unique(grid[grid != 0])
        if all((edge == value).any() for edge in (grid[0], grid[-1], grid[:, 0], grid[:, -1]))
    ]
    return np.block([[crop(quarter) for quarter in row] for row in split(grid, color)])
