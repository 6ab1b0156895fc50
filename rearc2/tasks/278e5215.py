"""The grey pattern is coloured with the small legend of its width: a grey cell takes the colour at the top of the
legend in its column, any other cell the colour of the legend's bottom line."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors, crop, paint, place, random_shape

GREY = 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(5, 12), rng.randint(5, 12)
    pattern = random_shape(rng, height, width, rng.uniform(0.5, 0.7), diagonal=True)
    base, *palette = colors(rng, rng.randint(4, 7), without=(0, GREY))
    columns: list[int] = []
    while len(columns) < width:
        ink = rng.choice([ink for ink in palette if ink not in columns] or palette)
        columns += [ink] * rng.randint(1, 3)
    columns = columns[:width]
    before = canvas(max(15, height + rng.randint(4, 9)), width + rng.randint(2, 9))
    corner, legend_corner = place(rng, before.shape, [(height, width), (3, width)])
    paint(before, pattern, *corner, GREY)
    paint(before, np.array([columns, columns, [base] * width]), *legend_corner)
    return before, np.where(pattern, columns, base)


def verify(grid: Grid) -> Grid:
    pattern = crop(grid, grid == GREY)
    legend = crop(grid, (grid != GREY) & (grid != 0))
    return np.where(pattern == GREY, legend[0], legend[-1])
