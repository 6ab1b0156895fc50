"""Every figure has a yellow axis, and one half of it bears a single yellow cell more: that half is right, and the other
half becomes its mirror image."""

from collections import Counter
from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, grow, objects, paint, place, scatter

YELLOW = 4


def generate(rng: Random) -> tuple[Grid, Grid]:
    shape = rng.randint(13, 28), rng.randint(13, 28)
    count = rng.randint(1, max(1, min(5, shape[0] * shape[1] // 100)))
    before, after = canvas(*shape), canvas(*shape)
    figures = []
    for color in colors(rng, count, without=(0, YELLOW)):
        wrong, right = _figure(rng, color)
        turns = rng.randrange(4)
        figures.append((np.rot90(wrong, turns), np.rot90(right, turns)))
    places = place(rng, shape, [right.shape for _, right in figures])
    for (wrong, right), spot in zip(figures, places, strict=True):
        paint(before, wrong, *spot)
        paint(after, right, *spot)
    for grid in (before, after):  # no figure falls apart
        if len(objects(grid, same_color=False)) != count:
            raise Retry
    return before, after


def _figure(rng: Random, color: int) -> tuple[Grid, Grid]:
    """The figure with a wrong half on the left, and the right one; the axis is upright."""
    height, reach = rng.randint(3, 10), rng.randint(3, 5)
    start, end = (0, height) if height < 6 else (rng.randint(0, 2), height - rng.randint(0, 1))
    half = np.zeros((height, reach), bool)  # columns by distance from the axis
    for row in range(height):
        beyond = not start <= row < end  # above or below the axis there may be a gap in the middle
        half[row, rng.randint(0, 1) if beyond else 0 : rng.randint(2, reach)] = True
    spot = rng.randint(start, end - 1)
    half[spot, :3] = True
    # The other half has lost and gained cells at its outline.
    outline = grow(half) & ~half | (half & grow(~half))
    outline[start:end, 0] = False
    wrong = half ^ (outline & scatter(rng, half.shape, rng.uniform(0.2, 0.6)))
    if (wrong != half).sum() < 2:
        raise Retry
    axis = np.zeros((height, 1), int)
    axis[start:end] = YELLOW
    good = np.where(half, color, 0)
    good[spot, 1] = YELLOW
    bad = np.where(wrong, color, 0)
    return np.hstack([bad[:, ::-1], axis, good]), np.hstack([good[:, ::-1], axis, good])


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for thing in objects(grid, same_color=False):
        yellow = [cell for cell in thing.cells if grid[cell] == YELLOW]
        # The coordinate that tells the side of the axis: the row (0) if the axis lies, the column (1) if it stands.
        counts = [Counter(cell[way] for cell in yellow) for way in (0, 1)]
        way = 0 if max(counts[0].values()) > max(counts[1].values()) else 1
        axis = counts[way].most_common(1)[0][0]
        (extra,) = [cell for cell in yellow if cell[way] != axis]
        beyond = [cell for cell in thing.cells if (cell[way] - axis) * (extra[way] - axis) < 0]
        right = [cell for cell in thing.cells if (cell[way] - axis) * (extra[way] - axis) > 0]
        for cell in beyond:
            output[cell] = 0
        for row, column in right:
            image = (2 * axis - row, column) if way == 0 else (row, 2 * axis - column)
            output[image] = grid[row, column]
    return output
