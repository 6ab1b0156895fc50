"""Every blue pattern takes the colour of the dot in the panel beside it, across the long yellow line."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, join, scatter

LINE, BLUE = 4, 1


def generate(rng: Random) -> tuple[Grid, Grid]:
    before_pairs, after_pairs = [], []
    for color in colors(rng, 3, without=(0, BLUE, LINE, 5, 9)):
        pattern = scatter(rng, (3, 3), rng.uniform(0.45, 0.7)).astype(np.int64)
        if not (pattern.any(axis=0).all() and pattern.any(axis=1).all()) or pattern.all():
            raise Retry
        dot = canvas(3, 3)
        dot[1, 1] = color
        before_pairs.append([dot, pattern * BLUE])
        after_pairs.append([dot, pattern * color])
    dots_first, upright = rng.random() < 0.5, rng.random() < 0.5

    def layout(pairs: list[list[Grid]]) -> Grid:
        ordered = [pair if dots_first else pair[::-1] for pair in pairs]
        panels = ordered if upright else [list(row) for row in zip(*ordered, strict=True)]
        return join(panels, LINE)

    return layout(before_pairs), layout(after_pairs)


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    upright = grid.shape[0] > grid.shape[1]
    for start in range(0, max(grid.shape), 4):
        pair = output[start : start + 3] if upright else output[:, start : start + 3]
        (color,) = set(pair.flat) - {0, BLUE, LINE}
        pair[pair == BLUE] = color
    return output
