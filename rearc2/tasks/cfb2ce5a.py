"""The pattern of two colours is mirrored to the right, down and both. The dots in a quarter tell in which colours: a
dot's colour stands for the colour of the pattern cell whose mirror image it is, and without a dot cells stay empty."""

from collections.abc import Callable
from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, random_cells


def generate(rng: Random) -> tuple[Grid, Grid]:
    pattern = random_cells(rng, (4, 4), [1, 2])
    # Symmetric about the diagonal, so that mirror images and turned ones (the rival) are the same.
    pattern = np.triu(pattern) + np.triu(pattern, 1).T
    if not 5 <= (pattern == 1).sum() <= 11:
        raise Retry
    before, after = canvas(10, 10), canvas(10, 10)
    first_colors = colors(rng, 2)
    before[1:5, 1:5] = after[1:5, 1:5] = np.array([0, *first_colors])[pattern]
    for top, left, image in (
        (1, 5, pattern[:, ::-1]),
        (5, 1, pattern[::-1]),
        (5, 5, pattern[::-1, ::-1]),
    ):
        dots = colors(rng, 2, without=(0, *first_colors))
        if (top, left) == (5, 5) and rng.random() < 0.4:
            dots[rng.randrange(2)] = 0
        for part, color in enumerate(dots, start=1):
            row, column = rng.choice(np.argwhere(image == part).tolist())
            before[top + row, left + column] = color
        after[top : top + 4, left : left + 4] = np.array([0, *dots])[image]
    return before, after


def verify(grid: Grid) -> Grid:
    return _drawn(grid, lambda pattern: [np.fliplr(pattern), np.flipud(pattern), np.rot90(pattern, 2)])


def rival(grid: Grid) -> Grid:
    """The pattern is turned about the middle of the grid instead of mirrored."""
    return _drawn(grid, lambda pattern: [np.rot90(pattern, turns) for turns in (3, 1, 2)])


def _drawn(grid: Grid, images: Callable[[Grid], list[Grid]]) -> Grid:
    output = grid.copy()
    corners = ((1, 5), (5, 1), (5, 5))
    for (top, left), image in zip(corners, images(grid[1:5, 1:5]), strict=True):
        quarter = output[top : top + 4, left : left + 4]
        for row, column in np.argwhere(quarter > 0).tolist():
            quarter[image == image[row, column]] = quarter[row, column]
    return output
