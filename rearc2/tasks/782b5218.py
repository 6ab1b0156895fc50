"""Above the red line all becomes black, below it all takes the colour of the speckles."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, scatter

LINE = 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = (10, 10) if rng.random() < 0.5 else (rng.randint(7, 16), rng.randint(7, 16))
    (color,) = colors(rng, 1, without=(0, LINE))
    thickness = rng.choice([1, 1, 2])
    kind = rng.choice(["level", "slope", "waves", "wander"])
    drift = rng.choice([-1, 1])
    top = rng.randint(1, height - 3)
    before = canvas(height, width)
    before[scatter(rng, before.shape, rng.uniform(0.35, 0.65))] = color
    after = canvas(height, width)
    for column in range(width):
        if column:
            wave = 1 if column % 4 in (1, 2) else -1
            top += {"level": 0, "slope": drift, "waves": drift * wave, "wander": rng.randint(-1, 1)}[kind]
        bottom = top + (rng.randint(1, 2) if kind == "wander" else thickness)
        if top < 0 or bottom > height:
            raise Retry
        after[bottom:, column] = color
        before[top:bottom, column] = after[top:bottom, column] = LINE
    return before, after


def verify(grid: Grid) -> Grid:
    (color,) = set(np.unique(grid).tolist()) - {0, LINE}
    line = grid == LINE
    below = np.logical_or.accumulate(line, axis=0) & ~line
    return np.where(line, LINE, np.where(below, color, 0))
