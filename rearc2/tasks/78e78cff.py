"""The colour of the single dot fills the room around it, and runs straight on to the border through every gap in the
room's walls."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, background, colors, flood, most_common


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(5, 9), rng.randint(5, 9)
    rounded = rng.random() < 0.6
    inside = np.zeros((height, width), bool)
    inside[1:-1, 1:-1] = True
    # One gap in every side; it leaves the walls that make the corners.
    gaps = np.zeros((height, width), bool)
    for side in (gaps[0], gaps[-1], gaps[:, 0], gaps[:, -1]):
        start, end = sorted(rng.sample(range(1 + rounded, len(side) - rounded), 2))
        side[start:end] = True
    wall = ~inside & ~gaps
    if rounded:
        wall[:: height - 1, :: width - 1] = False
    filled = inside | gaps
    margins = [(rng.randint(2, 5), rng.randint(2, 5)) for _ in range(2)]
    ground, wall_color, dot_color = colors(rng, 3)
    before = np.where(np.pad(wall, margins), wall_color, ground)
    # Beyond the room the edges of the filled area are continued.
    after = np.where(np.pad(filled, margins, mode="edge"), dot_color, before)
    top, left = margins[0][0], margins[1][0]
    before[top + rng.randint(1, height - 2), left + rng.randint(1, width - 2)] = dot_color
    return before, after


def verify(grid: Grid) -> Grid:
    ground = background(grid)
    wall = most_common(grid, without=[ground])
    (dot_color,) = set(np.unique(grid).tolist()) - {ground, wall}
    rows, columns = np.nonzero(grid == wall)
    top, bottom, left, right = rows.min(), rows.max(), columns.min(), columns.max()
    room = np.zeros(grid.shape, bool)
    room[top : bottom + 1, left : right + 1] = True
    filled = flood(room & (grid != wall), grid == dot_color)
    filled[:top] |= filled[top]
    filled[bottom:] |= filled[bottom]
    filled[:, :left] |= filled[:, left : left + 1]
    filled[:, right:] |= filled[:, right : right + 1]
    return np.where(filled, dot_color, grid)
