"""Each quarter of the grid holds noise in its own colour, and the cell in the middle has one of these colours. Only a
diagonal of that colour remains, from the middle to the corner of its quarter."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, line, paint, scatter

GROUND = 7


def generate(rng: Random) -> tuple[Grid, Grid]:
    half = rng.randint(3, 9)  # side of a quarter
    side = 2 * half + 1
    corners = [(0, 0), (0, side - 1), (side - 1, 0), (side - 1, side - 1)]
    palette = colors(rng, 4, without=(GROUND,))
    chosen = rng.randrange(4)
    before, after = canvas(side, side, GROUND), canvas(side, side, GROUND)
    for (row, column), color in zip(corners, palette, strict=True):
        noise = scatter(rng, (half, half), rng.uniform(0.3, 0.5))
        if noise.sum() < half:
            raise Retry
        paint(before, noise, half + 1 if row else 0, half + 1 if column else 0, color)
    before[half, half] = palette[chosen]
    line(after, (half, half), corners[chosen], palette[chosen])
    return before, after


def verify(grid: Grid) -> Grid:
    middle = len(grid) // 2
    color = int(grid[middle, middle])
    output = np.full_like(grid, GROUND)
    for row in (0, len(grid) - 1):
        for column in (0, len(grid) - 1):
            quarter = grid[:middle] if row == 0 else grid[middle + 1 :]
            quarter = quarter[:, :middle] if column == 0 else quarter[:, middle + 1 :]
            if (quarter == color).any():
                line(output, (middle, middle), (row, column), color)
    return output
