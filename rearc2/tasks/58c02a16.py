"""The small pattern fills the grid like a wallpaper of itself: in its own colour where the pattern, enlarged and
repeated, has a cell, and in the colour of its edge where it has none."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, box, canvas, colors, paint, scatter

ORANGE = 7


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(2, 4), rng.randint(2, 4)
    pattern = scatter(rng, (height, width), rng.uniform(0.35, 0.7))
    if not pattern.any(axis=1).all() or not pattern.any(axis=0).all() or pattern.all():
        raise Retry
    color, edge = colors(rng, 2, without=(ORANGE,))
    most = rng.randint(8, 20)
    if most < max(height, width) ** 2:
        raise Retry
    shape = rng.randint(max(6, height * height), most), rng.randint(max(6, width * width), most)
    before = canvas(*shape, ORANGE)
    before[: height + 1, : width + 1] = edge
    before[:height, :width] = np.where(pattern, color, ORANGE)
    after = canvas(*shape, ORANGE)
    for top in range(0, shape[0], height):
        for left in range(0, shape[1], width):
            own = pattern[top // height % height, left // width % width]
            paint(after, pattern, top, left, color if own else edge)
    return before, after


def verify(grid: Grid) -> Grid:
    _, _, height, width = box(grid != ORANGE)
    height, width = height - 1, width - 1
    pattern = grid[:height, :width]
    own, edge = pattern[pattern != ORANGE][0], grid[height, width]
    unit = np.where(np.kron(pattern != ORANGE, np.ones_like(pattern)), own, edge)
    unit[np.tile(pattern, pattern.shape) == ORANGE] = ORANGE
    times = -(-grid.shape[0] // unit.shape[0]), -(-grid.shape[1] // unit.shape[1])
    return np.tile(unit, times)[: grid.shape[0], : grid.shape[1]]
