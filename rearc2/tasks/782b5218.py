"""Above the red line all becomes black, below it all takes the colour of the speckles."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors, scatter

LINE = 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = (10, 10) if rng.random() < 0.5 else (rng.randint(7, 16), rng.randint(7, 16))
    (color,) = colors(rng, 1, without=(0, LINE))
    kind = rng.choice(["level", "slope", "waves", "wander"])
    thickness = rng.randint(1, 2)
    top = rng.randint(0, 2) if kind == "slope" else rng.randint(2, height - 5)
    after = canvas(height, width)
    line = np.zeros((height, width), bool)
    for column in range(width):
        if kind == "wander":
            thickness = rng.randint(1, 2)
            top = min(max(top + rng.randint(-1, 1), 1), height - 3)
        # A slope may end at the bottom: all columns after it are above the line.
        line[top : top + thickness, column] = True
        after[top:, column] = color
        top += {"level": 0, "slope": 1, "waves": 1 if column % 4 < 2 else -1, "wander": 0}[kind]
    if rng.random() < 0.5:
        line, after = line[:, ::-1], after[:, ::-1]
    speckles = scatter(rng, (height, width), rng.uniform(0.35, 0.65))
    return np.where(line, LINE, speckles * color), np.where(line, LINE, after)


def verify(grid: Grid) -> Grid:
    (color,) = set(np.unique(grid).tolist()) - {0, LINE}
    line = grid == LINE
    below = np.logical_or.accumulate(line, axis=0) & ~line
    return np.where(line, LINE, np.where(below, color, 0))
