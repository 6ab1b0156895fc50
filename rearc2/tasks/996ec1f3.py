"""A cross of one colour cuts the grid into four parts, each a solid area amid noise. The output is this picture in 3x3
cells: the colours of the areas at the corners, the cross between them."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, fill, join, most_common, random_cells, splits

SIDE = 19


def generate(rng: Random) -> tuple[Grid, Grid]:
    cross, *areas = colors(rng, 5, without=())
    row, column = rng.randint(5, 13), rng.randint(5, 13)
    panels = []
    for number, color in enumerate(areas):
        height = row if number < 2 else SIDE - 1 - row
        width = SIDE - 1 - column if number % 2 else column
        panel = random_cells(rng, (height, width), range(1, 10))
        fill(panel, 1, 1, height - 2, width - 2, color)
        if (panel == color).sum() < 1.5 * max(
            (panel == other).sum() for other in range(10) if other != color
        ):
            raise Retry
        panels.append(panel)
    before = join([panels[:2], panels[2:]], cross)
    after = canvas(3, 3, cross)
    after[::2, ::2] = np.reshape(areas, (2, 2))
    return before, after


def verify(grid: Grid) -> Grid:
    (row,), (column,) = splits(grid)
    upper, lower = grid[:row], grid[row + 1 :]
    output = np.full((3, 3), grid[row, column])
    for r, half in (0, upper), (2, lower):
        output[r, 0] = most_common(half[:, :column])
        output[r, 2] = most_common(half[:, column + 1 :])
    return output
