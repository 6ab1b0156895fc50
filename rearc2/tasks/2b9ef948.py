"""A grey path leads from a dot of the stamp's inner colour to a yellow dot: the yellow-framed stamp moves by the same
vector, shoots yellow diagonals from its corners to the border, and its inner colour floods everything else."""

from itertools import pairwise
from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, flood, frame, line, place, ray

YELLOW, GREY = 4, 5
CORNERS = [(-1, -1), (-1, 1), (1, -1), (1, 1)]


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = (30, 30) if rng.random() < 0.2 else (rng.randint(10, 30), rng.randint(10, 30))
    (color,) = colors(rng, 1, without=(0, YELLOW, GREY))
    before, after = canvas(height, width), canvas(height, width, color)
    corners = _path(rng)
    path_height, path_width = corners.max(axis=0) + 1
    ((path_top, path_left),) = place(rng, before.shape, [(path_height, path_width)])
    corners += np.array([path_top, path_left])
    for start, end in pairwise(corners):
        line(before, tuple(start), tuple(end), GREY)
    before[tuple(corners[0])], before[tuple(corners[-1])] = color, YELLOW
    # The stamp may lie in the bend of the path.
    ((top, left),) = place(rng, before.shape, [(3, 3)], gap=rng.randint(1, 2), taken=before != 0)
    frame(before, top, left, 3, 3, YELLOW)
    before[top + 1, left + 1] = color

    down, right = corners[-1] - corners[0]
    center = top + 1 + int(down), left + 1 + int(right)
    if not (1 <= center[0] < height - 1 and 1 <= center[1] < width - 1):
        raise Retry
    for step in CORNERS:
        ray(after, center, step, YELLOW, through=None)
    frame(after, center[0] - 1, center[1] - 1, 3, 3, YELLOW)
    return before, after


def _path(rng: Random) -> Grid:
    """[corners, 2]: the corners of a path of one to three straight legs, in its own box."""
    signs = rng.choice([-1, 1]), rng.choice([-1, 1])
    axis = rng.randrange(2)
    place_now, corners = [0, 0], [(0, 0)]
    for leg in range(rng.choice([1, 2, 2, 3, 3])):
        # The third leg may go back (a hook): the second one keeps it away from the first.
        turned = leg == 2 and rng.random() < 0.5
        place_now[axis] += signs[axis] * (-1 if turned else 1) * rng.randint(3 if leg == 0 else 2, 7)
        corners.append((place_now[0], place_now[1]))
        axis = 1 - axis
    path = np.array(corners)
    return path - path.min(axis=0)


def verify(grid: Grid) -> Grid:
    grey_side = flood(grid != 0, grid == GREY)  # the path with both its ends
    path = np.where(grey_side, grid, 0)
    stamp = np.where(grey_side, 0, grid)
    (color,) = np.unique(path[(path != 0) & (path != GREY) & (path != YELLOW)])
    vector = np.argwhere(path == YELLOW)[0] - np.argwhere(path == color)[0]
    center = np.argwhere(stamp == color)[0] + vector
    rows, columns = np.indices(grid.shape)
    down, right = np.abs(rows - center[0]), np.abs(columns - center[1])
    marked = (down == right) | (np.maximum(down, right) == 1)
    marked[tuple(center)] = False
    return np.where(marked, YELLOW, color)
