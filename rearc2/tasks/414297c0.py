"""The output is the large rectangle; around each of its dots it gets the red cells that surround the dot of that colour
outside."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, background, canvas, colors, objects, place, scatter

RED = 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(6, 13), rng.randint(6, 16)
    board_color, *keys = colors(rng, rng.randint(3, 6), without=(0, RED))
    on_board = keys[: max(2, len(keys) - rng.randint(0, 1))]
    board, after = canvas(height, width, board_color), canvas(height, width, board_color)
    signs = {key: _sign(rng) for key in keys}
    for key, (top, left) in zip(
        on_board, place(rng, board.shape, [(3, 3)] * len(on_board), gap=0), strict=True
    ):
        board[top + 1, left + 1] = key
        after[top : top + 3, left : left + 3][signs[key]] = RED
        after[top + 1, left + 1] = key
    before = canvas(rng.randint(height + 4, 28), rng.randint(width + 4, 28))
    places = place(rng, before.shape, [board.shape] + [(3, 3)] * len(keys))
    for key, (top, left) in zip(keys, places[1:], strict=True):
        before[top : top + 3, left : left + 3][signs[key]] = RED
        before[top + 1, left + 1] = key
    top, left = places[0]
    before[top : top + height, left : left + width] = board
    if background(before) != 0:
        raise Retry
    return before, after


def _sign(rng: Random) -> Mask:
    """Some of the eight cells around the middle."""
    sign = scatter(rng, (3, 3), 0.55)
    sign[1, 1] = False
    if not 3 <= sign.sum() <= 7:
        raise Retry
    return sign


def verify(grid: Grid) -> Grid:
    things = objects(grid, same_color=False)
    board = max(things, key=lambda thing: thing.size)
    # A margin, so that signs can be cut out and put down anywhere.
    wide, output = np.pad(grid, 1), np.pad(board.patch, 1)
    for row, column in np.argwhere(board.patch != board.color).tolist():
        key = board.patch[row, column]
        for thing in things:
            for r, c in thing.cells:
                if thing is not board and grid[r, c] == key:
                    sign = wide[r : r + 3, c : c + 3] == RED
                    output[row : row + 3, column : column + 3][sign] = RED
    return output[1:-1, 1:-1]
