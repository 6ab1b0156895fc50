"""Every 3x3 block in the noise sends a line of its colour along the row and the column of its middle, from border to
border; where lines of two blocks cross, the cell becomes black."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, fill, grow, random_cells, retrying, scatter


def generate(rng: Random) -> tuple[Grid, Grid]:
    shape = rng.randint(12, 22), rng.randint(12, 22)
    count = rng.randint(1, 4)
    middles = retrying(lambda: _middles(rng, shape, count), 500)
    palette = rng.sample(range(1, 10), count)
    noise = random_cells(rng, shape, range(1, 10)) * scatter(rng, shape, rng.uniform(0.06, 0.16))
    blocks = canvas(*shape)
    for (row, column), color in zip(middles, palette, strict=True):
        fill(blocks, row - 1, column - 1, 3, 3, color)
    for color in palette:  # no speck of its own colour beside a block
        noise[grow(blocks == color) & (noise == color)] = 0
    before = np.where(blocks > 0, blocks, noise)
    after = before.copy()
    for (row, column), color in zip(middles, palette, strict=True):
        after[row] = after[:, column] = color
    for row, _ in middles:
        for other, column in middles:
            if row != other:
                after[row, column] = 0
    return before, after


def _middles(rng: Random, shape: tuple[int, int], count: int) -> list[tuple[int, int]]:
    """Places so far apart that no line runs through another block or along its edge."""
    middles = [(rng.randint(1, shape[0] - 2), rng.randint(1, shape[1] - 2)) for _ in range(count)]
    for number, (row, column) in enumerate(middles):
        if any(abs(row - r) < 3 or abs(column - c) < 3 for r, c in middles[:number]):
            raise Retry
    return middles


def verify(grid: Grid) -> Grid:
    windows = np.lib.stride_tricks.sliding_window_view(grid, (3, 3))
    solid = (windows == windows[:, :, :1, :1]).all(axis=(2, 3)) & (windows[:, :, 0, 0] > 0)
    output = grid.copy()
    lines = np.zeros(grid.shape, int)
    for row, column in (np.argwhere(solid) + 1).tolist():
        cross = np.zeros(grid.shape, bool)
        cross[row] = cross[:, column] = True
        output[cross] = grid[row, column]
        lines += cross
    output[lines > 1] = 0
    return output
