"""The colour of the single dot fills the room around it, and runs straight on to the border through every gap in the
room's walls."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, background, colors, flood, most_common


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(5, 9), rng.randint(5, 9)
    rounded = rng.random() < 0.6
    wall = np.zeros((height, width), bool)
    wall[0] = wall[-1] = wall[:, 0] = wall[:, -1] = True
    # One gap in every side; it leaves the walls that make the corners.
    first = 2 if rounded else 1
    gaps = [
        sorted(rng.sample(range(first, length - first + 1), 2)) for length in (width, width, height, height)
    ]
    wall[0, slice(*gaps[0])] = wall[-1, slice(*gaps[1])] = False
    wall[slice(*gaps[2]), 0] = wall[slice(*gaps[3]), -1] = False
    filled = np.zeros((height, width), bool)
    filled[1:-1, 1:-1] = True
    for row, column in ((0, 0), (0, -1), (-1, 0), (-1, -1)):
        if rounded:
            wall[row, column] = False
    filled |= _gaps(gaps, height, width)
    margins = [(rng.randint(2, 5), rng.randint(2, 5)) for _ in range(2)]
    ground, wall_color, dot_color = colors(rng, 3)
    before = np.where(np.pad(wall, margins), wall_color, ground)
    # Beyond the room the edges of the filled area are continued.
    after = np.where(np.pad(filled, margins, mode="edge"), dot_color, before)
    top, left = margins[0][0], margins[1][0]
    before[top + rng.randint(1, height - 2), left + rng.randint(1, width - 2)] = dot_color
    return before, after


def _gaps(gaps: list[list[int]], height: int, width: int) -> Mask:
    mask = np.zeros((height, width), bool)
    mask[0, slice(*gaps[0])] = mask[-1, slice(*gaps[1])] = True
    mask[slice(*gaps[2]), 0] = mask[slice(*gaps[3]), -1] = True
    return mask


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
