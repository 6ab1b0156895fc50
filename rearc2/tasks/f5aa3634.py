"""All many-coloured figures are different, but for one that is there twice. The output is that figure."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, objects, paint, place, random_cells, random_shape


def generate(rng: Random) -> tuple[Grid, Grid]:
    shape = rng.randint(10, 18), rng.randint(12, 18)
    figures: list[Grid] = []
    for _ in range(rng.randint(3, 7)):
        height, width = rng.choice([(3, 3), (3, 4), (4, 3), (3, 2), (2, 3), (4, 4)])
        mask = random_shape(rng, height, width, rng.uniform(0.5, 0.75), diagonal=rng.random() < 0.3)
        figure = random_cells(rng, mask.shape, colors(rng, rng.randint(2, 4))) * mask
        if len(np.unique(figure[mask])) < 2 or any(np.array_equal(figure, other) for other in figures):
            raise Retry
        figures.append(figure)
    twin = figures[0]
    if twin.size < 9:
        raise Retry
    figures.append(twin)
    before = canvas(*shape)
    for figure, (top, left) in zip(figures, place(rng, shape, [f.shape for f in figures]), strict=True):
        paint(before, figure, top, left)
    return before, twin


def verify(grid: Grid) -> Grid:
    figures = [thing.patch for thing in objects(grid, same_color=False)]
    counts = [sum(np.array_equal(figure, other) for other in figures) for figure in figures]
    return figures[counts.index(2)]
