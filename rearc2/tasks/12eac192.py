"""Pieces of one or two cells (of one colour, joined over edges) turn green; larger pieces stay."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, objects

GREEN = 3
COLORS = [1, 1, 5, 7, 8]


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.choice([(3, 3)] + 5 * [(rng.randint(5, 12), rng.choice([8, rng.randint(3, 12)]))])
    before, after = canvas(height, width), canvas(height, width)
    sizes = []
    filled = rng.uniform(0.4, 0.65) * height * width
    while np.count_nonzero(before) < filled:
        color, size = rng.choice(COLORS), rng.choice([1, 1, 1, 2, 2, 3, 4, 5, 6])
        piece = _piece(rng, before, color, size)
        if piece:
            sizes.append(len(piece))
            for cell in piece:
                before[cell] = color
                after[cell] = GREEN if len(piece) <= 2 else color
    if min(sizes) > 2 or max(sizes) <= 2:
        raise Retry
    return before, after


def _piece(rng: Random, grid: Grid, color: int, size: int) -> list[tuple[int, int]]:
    """Up to `size` free, connected cells that touch no cell of the colour over an edge."""
    height, width = grid.shape
    piece: list[tuple[int, int]] = []
    border = [(rng.randrange(height), rng.randrange(width))]
    while border and len(piece) < size:
        r, c = border.pop(rng.randrange(len(border)))
        near = [(r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)]
        near = [(row, column) for row, column in near if 0 <= row < height and 0 <= column < width]
        if grid[r, c] == 0 and (r, c) not in piece and all(grid[cell] != color for cell in near):
            piece.append((r, c))
            border += near
    return piece


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for thing in objects(grid, diagonal=False):
        if thing.size <= 2:
            output[thing.slices][thing.mask] = GREEN
    return output
