"""The piece at the left border slides into the notch of the block of its colour at the right border: together they are
a solid rectangle. The other block stays."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, colors, label, mostly, paint, scatter

PAPER = 7


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = mostly(rng, 8, 10, 18)
    color, other = colors(rng, 2, without=(0, PAPER))
    height, other_height = rng.randint(3, max(3, side // 2 - 1)), rng.randint(3, max(3, side // 2 - 1))
    width, other_width = rng.randint(3, max(4, side // 2 - 1)), rng.randint(3, max(3, side // 2 - 1))
    piece, decoy = _piece(rng, height, width), _piece(rng, other_height, other_width)
    tops = [0, 0]
    tops[0] = rng.randint(0, side - height - other_height - 1)
    tops[1] = rng.randint(tops[0] + height + 1, side - other_height)
    if rng.random() < 0.5:  # the block of the piece may be the lower one
        tops = [side - tops[0] - height, side - tops[1] - other_height]
    before = canvas(side, side, PAPER)
    paint(before, ~decoy[:, 1:], tops[1], side - other_width + 1, other)
    after = before.copy()
    paint(before, ~piece[:, 1:], tops[0], side - width + 1, color)
    start = rng.randint(0, side - height)
    if start == tops[0]:
        raise Retry
    paint(before, piece, start, 0, color)
    paint(after, np.ones((height, width), bool), tops[0], side - width, color)
    return before, after


def _piece(rng: Random, height: int, width: int) -> Mask:
    """A full first column with teeth that leave the border of the rectangle free; all and the rest hang together."""
    piece = np.zeros((height, width), bool)
    inside = scatter(rng, (height - 2, width - 2), rng.uniform(0.5, 0.9))
    if rng.random() < 0.6:
        inside |= inside[::-1]
    piece[1:-1, 1:-1] = inside
    piece[:, 0] = True
    if not inside.any() or label(piece, False)[1] > 1 or label(~piece[:, 1:], False)[1] > 1:
        raise Retry
    return piece


def verify(grid: Grid) -> Grid:
    color = int(next(cell for cell in grid[:, 0] if cell != PAPER))
    rows = np.flatnonzero(grid[:, 0] == color)
    half = grid.shape[1] // 2
    piece = grid[rows[0] : rows[-1] + 1, :half] == color
    output = grid.copy()
    output[:, :half][grid[:, :half] == color] = PAPER
    target = output == color
    block_rows = np.flatnonzero(target.any(axis=1))
    for left in range(grid.shape[1]):
        moved = np.zeros_like(target)
        paint(moved, piece, int(block_rows[0]), left)
        filled = target | moved
        columns = np.flatnonzero(filled.any(axis=0))
        solid = filled[block_rows[0] : block_rows[-1] + 1, columns[0] :].all()
        if solid and not (target & moved).any() and moved.sum() == piece.sum():
            output[moved] = color
            return output
    raise ValueError("the piece does not fit")
