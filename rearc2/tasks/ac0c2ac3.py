"""The grid consists of square rings around its centre, and every ring holds one dot: the whole ring takes its
colour."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors, fill

BACKGROUND = 7


def generate(rng: Random) -> tuple[Grid, Grid]:
    radius = rng.randint(2, 8)
    side = 2 * radius + 1
    before, after = canvas(side, side, BACKGROUND), canvas(side, side)
    palette = colors(rng, radius + 1, (BACKGROUND,))
    for ring in range(radius, -1, -1):  # from the outside in
        corner = radius - ring
        fill(after, corner, corner, 2 * ring + 1, 2 * ring + 1, palette[ring])
        along, across = rng.randint(-ring, ring), rng.choice([-ring, ring])
        down, right = rng.choice([(along, across), (across, along)])
        before[radius + down, radius + right] = palette[ring]
    return before, after


def verify(grid: Grid) -> Grid:
    rows, columns = np.indices(grid.shape)
    center = grid.shape[0] // 2
    ring = np.maximum(abs(rows - center), abs(columns - center))
    output = grid.copy()
    for number in range(center + 1):
        cells = grid[ring == number]
        (color,) = cells[cells != BACKGROUND]
        output[ring == number] = color
    return output
