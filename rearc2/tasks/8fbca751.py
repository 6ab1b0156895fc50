"""The black cells in the box around every sky blue figure, four rows high and four or eight columns wide, become
red."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, random_shape, retrying, scatter

FIGURE, FILLING, TILE = 8, 2, 4


def generate(rng: Random) -> tuple[Grid, Grid]:
    if rng.random() < 0.25:  # a single figure in any place
        height, width = rng.randint(6, 12), rng.randint(6, 12)
        boxes = [(rng.randint(0, height - TILE), rng.randint(0, width - TILE), TILE)]
    else:  # bands of tiles with a figure each, none above another
        bands, across = rng.randint(2, 4), rng.randint(2, 6)
        height, width = TILE * bands, TILE * across
        boxes = retrying(lambda: _figures(rng, bands, across))
    before, after = canvas(height, width), canvas(height, width)
    for top, left, wide in boxes:
        figure = random_shape(rng, TILE, wide, rng.uniform(0.4, 0.6), diagonal=True)
        figure |= scatter(rng, figure.shape, 0.05)
        before[top : top + TILE, left : left + wide] = np.where(figure, FIGURE, 0)
        after[top : top + TILE, left : left + wide] = np.where(figure, FIGURE, FILLING)
    return before, after


def _figures(rng: Random, bands: int, across: int) -> list[tuple[int, int, int]]:
    """Top, left and width of one figure in each band; none lies right above another."""
    boxes = []
    used: set[int] = set()
    for band in range(bands):
        first = rng.randrange(across)
        tiles = {first} if rng.random() < 0.5 else {first, first + 1}
        if tiles & used or max(tiles) >= across:
            raise Retry
        boxes.append((TILE * band, TILE * first, TILE * len(tiles)))
        used = tiles
    return boxes


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    row = 0
    while row < len(grid):
        if not grid[row].any():
            row += 1
            continue
        columns = np.flatnonzero(grid[row : row + TILE].any(axis=0))
        part = output[row : row + TILE, columns[0] : columns[-1] + 1]
        part[part == 0] = FILLING
        row += TILE
    return output


def rival_tiles(grid: Grid) -> Grid:
    """Tiles of 4x4 cells, counted from the first row and column with a figure: those that are not empty are filled."""
    output = grid.copy()
    rows, columns = np.nonzero(grid)
    for top in range(int(rows.min()), len(grid), TILE):
        for left in range(int(columns.min()) % TILE, grid.shape[1], TILE):
            tile = output[top : top + TILE, left : left + TILE]
            if tile.any():
                tile[tile == 0] = FILLING
    return output
