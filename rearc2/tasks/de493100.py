"""The mosaic is symmetric, left-right and up-down about an axis one cell off the middle, and across the diagonal
outside the 8x8 blocks that lie on the diagonals; what the orange patch hides is the output."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, box, colors, random_cells

PATCH = 7
SIDE, LAST = 30, 31  # row r mirrors row 31 - r: the mosaic is cut out of one of 32x32


def generate(rng: Random) -> tuple[Grid, Grid]:
    palette = colors(rng, rng.randint(7, 8), without=(0, PATCH))
    common = palette[: rng.randint(2, 4)]
    near, far, beside = (_tile(rng, palette, common) for _ in range(3))
    quarter = np.block([[near, beside], [beside.T, far]])
    half = np.hstack([quarter, quarter[:, ::-1]])
    mosaic = np.vstack([half, half[::-1]])[:SIDE, :SIDE]
    height, width = rng.randint(2, 10), rng.randint(2, 10)
    top, left = rng.randint(0, SIDE - height), rng.randint(0, SIDE - width)
    hidden = np.zeros((SIDE, SIDE), bool)
    hidden[top : top + height, left : left + width] = True
    # Seen as a hidden-or-not mosaic of its own: is some mirror image of each hidden cell in view?
    view = np.zeros((32, 32), bool)
    view[:SIDE, :SIDE] = ~hidden
    images = view | view[::-1] | view[:, ::-1] | view[::-1, ::-1]
    block = np.minimum(np.arange(32), np.arange(32)[::-1]) // 8
    across = images.T & (block[:, None] != block)
    if not (images | across)[:SIDE, :SIDE].all():
        raise Retry
    before = np.where(hidden, PATCH, mosaic)
    return before, mosaic[top : top + height, left : left + width]


def _tile(rng: Random, palette: list[int], common: list[int]) -> Grid:
    """8x8 cells of four blocks, each in few colours and symmetric about one of its diagonals."""
    blocks = []
    for _ in range(4):
        block = random_cells(rng, (4, 4), [*rng.sample(palette, 2), *common])
        block = np.where(np.tri(4, dtype=bool), block, block.T)
        blocks.append(block[:, ::-1] if rng.random() < 0.5 else block)
    return np.block([blocks[:2], blocks[2:]])


def verify(grid: Grid) -> Grid:
    top, left, height, width = box(grid == PATCH)
    output = np.zeros((height, width), np.int64)
    for r in range(height):
        for c in range(width):
            row, column = top + r, left + c
            places = [(a, b) for a in (row, LAST - row) for b in (column, LAST - column)]
            places += [(b, a) for a, b in places]
            output[r, c] = next(grid[a, b] for a, b in places if max(a, b) < SIDE and grid[a, b] != PATCH)
    return output
