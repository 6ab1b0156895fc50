"""The maroon patches cover a kaleidoscope of 32x32 cells, of which the last two rows and columns are cut off. What is
hidden shows in its mirror images, or, if they are hidden too, across the diagonal."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, colors, fill, random_cells

HIDDEN, SIDE, WHOLE = 9, 30, 32


def generate(rng: Random) -> tuple[Grid, Grid]:
    palette = colors(rng, 8, without=(0, HIDDEN))
    top_left, corner, bottom_right = _tile(rng, palette), _tile(rng, palette), _tile(rng, palette)
    quarter = np.block([[top_left, corner], [corner.T, bottom_right]])
    half = np.hstack([quarter, quarter[:, ::-1]])
    after = np.vstack([half, half[::-1]])[:SIDE, :SIDE]
    before = after.copy()
    for _ in range(rng.randint(2, 4)):
        height, width = rng.randint(2, 8), rng.randint(2, 8)
        fill(before, rng.randint(0, SIDE - height), rng.randint(0, SIDE - width), height, width, HIDDEN)
    # Every hidden cell shows somewhere: folded onto the quarter, no cell stays hidden.
    seen = np.zeros((WHOLE // 2, WHOLE // 2), bool)
    for row, column in np.argwhere(before != HIDDEN).tolist():
        seen[min(row, WHOLE - 1 - row), min(column, WHOLE - 1 - column)] = True
    seen[:8, 8:] |= seen[8:, :8].T
    seen[8:, :8] |= seen[:8, 8:].T
    if not seen.all() or len(np.unique(before)) < 9:
        raise Retry
    return before, after


def _tile(rng: Random, palette: list[int]) -> Grid:
    """8x8 cells of four pieces, each with a few colours and symmetric about one of its diagonals."""
    pieces = []
    for _ in range(4):
        piece = random_cells(rng, (4, 4), rng.sample(palette, rng.choice([1, 2, 3, 4])))
        lower = np.tril_indices(4, -1)
        piece[lower] = piece.T[lower]
        pieces.append(piece if rng.random() < 0.5 else piece[:, ::-1])
    return np.block([pieces[:2], pieces[2:]])


def verify(grid: Grid) -> Grid:
    whole = np.full((WHOLE, WHOLE), HIDDEN)
    whole[:SIDE, :SIDE] = grid
    mirrored = [whole, whole[::-1], whole[:, ::-1], whole[::-1, ::-1]]
    output = whole.copy()
    for image in [*mirrored, *(image.T for image in mirrored)]:
        output = np.where(output == HIDDEN, image, output)
    return output[:SIDE, :SIDE]
