"""Canvases: a grid as tokens on a square, and back.

The vocabulary has 12 tokens: 0 is padding, 1 is the boundary, 2..11 are the colours. The boundary is an L: the row just
below the grid and the column just right of it; their corner stays pad. A side at the canvas edge has no boundary.

A large canvas (64 x 64, VARC's) holds enlarged grids: each cell is a square of `scale` x `scale` tokens. Its outermost
tokens stay free. Only outputs have a boundary there, one token wide, and it includes the corner.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from charm.errors import CharmError
from charm.tasks.task import MAX_SIDE, Grid

PAD = 0
BOUNDARY = 1
FIRST_COLOR = 2
VOCABULARY = 12

FULL_SIDE = MAX_SIDE
FIT_SIDES = (11, 16, 21, 30)  # the sizes of "fit" canvases: few, since each needs its own batch shape
LARGE_SIDE = 64
MARGIN = 1  # tokens along each edge of a large canvas without grid cells; a boundary may be there

Tokens = npt.NDArray[np.uint8]  # [height, width], 0..11


def is_large(side: int) -> bool:
    """Return whether a canvas of this side follows the rules of large ones."""
    return side > FULL_SIDE


def most_scale(longest: int, side: int) -> int:
    """Return the largest factor by which a grid of this longest side can be enlarged; its boundary must fit too."""
    room = side - 2 * MARGIN if is_large(side) else side - 1
    return max(1, room // longest)


def place(grid: Grid, side: int = FULL_SIDE, top: int = 0, left: int = 0) -> Tokens:
    """Place the grid on a canvas that is not large, with its upper left corner at (top, left)."""
    height, width = grid.shape
    if not (top >= 0 and top + height <= side and left >= 0 and left + width <= side):
        raise CharmError(f"a {height}x{width} grid at ({top}, {left}) does not fit a canvas of side {side}")
    tokens = np.zeros((side, side), np.uint8)
    tokens[top : top + height, left : left + width] = grid + FIRST_COLOR
    tokens[top + height : top + height + 1, left : left + width] = BOUNDARY
    tokens[top : top + height, left + width : left + width + 1] = BOUNDARY
    return tokens


def crop(tokens: Tokens) -> Grid:
    """Crop the largest rectangle of colours that starts at the origin, the flattest among equals; may be 0x0."""
    colored = tokens >= FIRST_COLOR
    run = np.cumprod(colored, axis=1).sum(axis=1)  # colours from the left edge on, in each row
    width = np.minimum.accumulate(run)
    area = width * np.arange(1, len(tokens) + 1)
    height = int(np.argmax(area)) + 1
    if area[height - 1] == 0:
        return np.zeros((0, 0), np.uint8)
    return tokens[:height, : width[height - 1]] - np.uint8(FIRST_COLOR)


def fitting_side(longest: int, sides: Sequence[int] = FIT_SIDES) -> int:
    """Return the smallest canvas that fits a grid of this longest side and its boundary."""
    for side in sorted(sides):
        if longest < side or longest == side == FULL_SIDE:
            return side
    raise CharmError(f"a grid of side {longest} does not fit on any canvas of sides {tuple(sides)}")
