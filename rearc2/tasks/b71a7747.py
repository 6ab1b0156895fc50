"""A drawing is cut into square windows that stand apart on a lattice of lines. The answer is the drawing with its
windows put together again."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, colors, scatter


def generate(rng: Random) -> tuple[Grid, Grid]:
    window, pitch, count = rng.choice(
        [(3, 4, 4), (3, 6, 3), (5, 6, 4), (3, 5, 4), (3, 4, 5), (5, 7, 3), (3, 5, 3)]
    )
    ground, line, speck, paper, ink = colors(rng, 5, (0,))
    first = rng.randint(2, 3 if count == 4 else 5)
    side = min(30, first + pitch * (count - 1) + window + rng.randint(2, 4))
    drawing = np.where(_path(rng, window * count), ink, paper)
    before = canvas(side, side, ground)
    if rng.random() < 0.4:
        before[scatter(rng, before.shape, 0.1)] = speck
    center = first + window // 2
    before[center % pitch :: pitch] = line
    before[:, center % pitch :: pitch] = line
    rows = [first + pitch * number + step for number in range(count) for step in range(window)]
    before[np.ix_(rows, rows)] = drawing
    if (before == speck).any() and not (before[:2] == speck).any():
        raise Retry  # the margin must show all that belongs to the lattice
    return before, drawing


def _path(rng: Random, side: int) -> Mask:
    """A line with corners, one cell thick, through a good part of the square."""
    path = np.zeros((side, side), bool)
    row, column = rng.randrange(side), rng.randrange(side)
    upright = rng.random() < 0.5
    for _ in range(rng.randint(3, 8)):
        target = rng.randrange(side)
        if upright:
            path[min(row, target) : max(row, target) + 1, column] = True
            row = target
        else:
            path[row, min(column, target) : max(column, target) + 1] = True
            column = target
        upright = not upright
    thick = path[1:, 1:] & path[:-1, 1:] & path[1:, :-1] & path[:-1, :-1]
    if thick.any() or not 1.5 * side <= path.sum() <= 5 * side:
        raise Retry
    return path


def verify(grid: Grid) -> Grid:
    # What the margin shows belongs to the lattice, any other colour to the drawing.
    drawn = ~np.isin(grid, np.unique(np.vstack([grid[:2], grid[-2:]])))
    return grid[np.ix_(drawn.any(axis=1), drawn.any(axis=0))]
