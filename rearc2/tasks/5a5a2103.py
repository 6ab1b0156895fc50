"""One panel shows a pattern: all panels get it, each row of panels in the colour of the 2x2 square at its left end."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, join, scatter, split

SIDE = 4  # of a panel


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(2, 6)
    border, ink, *palette = colors(rng, count + 2)
    pattern = scatter(rng, (SIDE, SIDE), rng.uniform(0.35, 0.6))
    # It spans the panel in one direction at least.
    if not 5 <= pattern.sum() <= 10 or not (pattern.any(axis=0).all() or pattern.any(axis=1).all()):
        raise Retry
    square = np.pad(np.ones((2, 2), int), 1)
    before = [[canvas(SIDE, SIDE) for _ in range(count)] for _ in range(count)]
    for row, color in zip(before, palette, strict=True):
        row[0] = square * color
    before[rng.randrange(count)][rng.randint(1, count - 1)] = pattern * ink
    after = [[pattern * color] * count for color in palette]
    return join(before, border), join(after, border)


def verify(grid: Grid) -> Grid:
    border = int(grid[SIDE, 0])
    panels = split(grid, border)
    (pattern,) = [panel != 0 for row in panels for panel in row[1:] if panel.any()]
    return join([[np.where(pattern, row[0].max(), 0)] * len(row) for row in panels], border)
