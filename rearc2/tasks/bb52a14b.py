"""One 3x3 pattern holds yellow cells among its blue and sky blue ones. Wherever its blue and sky blue cells occur again
in the noise, with black cells between, the yellow ones are put in. Turned and mirrored occurrences do not count."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, crop, place, random_cells, symmetries

BLUE, SKY, YELLOW = 1, 8, 4
SIDE = 22


def generate(rng: Random) -> tuple[Grid, Grid]:
    pattern = random_cells(rng, (3, 3), [BLUE, SKY, YELLOW, YELLOW])
    if not 4 <= (pattern == YELLOW).sum() <= 6 or not (pattern == BLUE).any() or not (pattern == SKY).any():
        raise Retry
    # The pattern must span its 3x3 box in yellow, or the box could not be known.
    if crop(pattern, pattern == YELLOW).shape != (3, 3):
        raise Retry
    blanks = rng.randint(3, 12)
    before = random_cells(rng, (SIDE, SIDE), [BLUE, SKY] + 2 * [0] * blanks)
    # The pattern itself, its copies, and decoys that are its turned or mirrored images.
    hidden = np.where(pattern == YELLOW, 0, pattern)
    turned = [image for image in symmetries(hidden) if (image != hidden).any()]
    if not turned:
        raise Retry
    count = rng.randint(2, 5)
    decoys = [rng.choice(turned) for _ in range(rng.randint(1, 3))]
    figures = [pattern] + [hidden] * (count - 1) + decoys
    places = place(rng, before.shape, [(3, 3)] * len(figures))
    for figure, (top, left) in zip(figures, places, strict=True):
        before[top : top + 3, left : left + 3] = figure
    after = before.copy()
    for top, left in places[:count]:
        after[top : top + 3, left : left + 3] = pattern
    # No other place may hold the pattern, not even with noise where the yellow cells would come.
    if _found(before, pattern).sum() > count:
        raise Retry
    return before, after


def _found(grid: Grid, pattern: Grid) -> Mask:
    windows = np.lib.stride_tricks.sliding_window_view(grid, (3, 3))
    return np.asarray(((windows == pattern) | (pattern == YELLOW)).all(axis=(2, 3)))


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    pattern = crop(grid, grid == YELLOW)
    hidden = np.where(pattern == YELLOW, 0, pattern)
    for top in range(grid.shape[0] - 2):
        for left in range(grid.shape[1] - 2):
            if np.array_equal(grid[top : top + 3, left : left + 3], hidden):
                output[top : top + 3, left : left + 3] = pattern
    return output


def rival_noise(grid: Grid) -> Grid:
    """Noise where the yellow cells come is no obstacle."""
    output = grid.copy()
    pattern = crop(grid, grid == YELLOW)
    for top, left in np.argwhere(_found(grid, pattern)):
        output[top : top + 3, left : left + 3] = pattern
    return output
