"""Green cells mark the two slanting edges of triangles, some with gaps. What else belongs to a triangle becomes sky
blue."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, place, retrying, scatter

EDGE, FILLING = 3, 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(12, 20), rng.randint(12, 20)
    count = rng.randint(2, 1 + height * width // 80)
    return retrying(lambda: _draw(rng, height, width, count))  # as often many triangles as few


def _draw(rng: Random, height: int, width: int, count: int) -> tuple[Grid, Grid]:
    pieces = [np.rot90(retrying(lambda: _triangle(rng)), rng.randrange(4)) for _ in range(count)]
    # One cell more on every side than will be seen: some triangles are cut off.
    board = np.zeros((height + 2, width + 2), int)
    for (top, left), piece in zip(
        place(rng, board.shape, [p.shape for p in pieces], gap=2), pieces, strict=True
    ):
        board[top : top + piece.shape[0], left : left + piece.shape[1]] = piece
        seen = np.zeros(board.shape, bool)
        seen[1:-1, 1:-1] = True
        seen = seen[top : top + piece.shape[0], left : left + piece.shape[1]]
        if (piece[~seen] == EDGE).any():  # a cut takes only what is not marked anyway
            raise Retry
    board = board[1:-1, 1:-1]
    noise = scatter(rng, (height, width), rng.uniform(0.4, 0.6)).astype(int)
    return np.where(board == EDGE, EDGE, noise), np.where(board > 0, board, noise)


def _triangle(rng: Random) -> Grid:
    """With its tip at the top. Both edges are marked near the tip, one of them at the end, and not two rows in a row
    lack marks."""
    depth = rng.choice([2, 2, 3, 3, 4])
    triangle = np.zeros((depth + 1, 2 * depth + 1), int)
    marks = scatter(rng, (depth + 1, 2), rng.choice([0.6, 0.8, 1.0]))
    marked = marks[1:].any(axis=1)
    if not marks[1:3].any(axis=0).all() or not marked[-1] or (~marked[1:] & ~marked[:-1]).any():
        raise Retry
    for row in range(depth + 1):
        triangle[row, depth - row : depth + row + 1] = FILLING
        for edge, side in enumerate((-1, 1)):
            if marks[row, edge] or row == 0:
                triangle[row, depth + side * row] = EDGE
    return triangle


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    edge = np.pad(grid == EDGE, 30)  # no test for the border
    rows, columns = np.indices(grid.shape)
    for row, column in np.argwhere(grid == EDGE).tolist():
        for down, right in ((1, 0), (-1, 0), (0, 1), (0, -1)):  # where the triangle opens from its tip
            arms = []
            for side in (-1, 1):
                step = (down, side) if down else (side, right)
                arms.append([edge[30 + row + k * step[0], 30 + column + k * step[1]] for k in range(1, 30)])
            if not all(any(arm[:2]) for arm in arms):
                continue
            marks = [one or other for one, other in zip(*arms, strict=True)]
            depth = 0
            while any(marks[depth : depth + 2]):
                depth += 1 if marks[depth] else 2
            ahead = (rows - row) * down + (columns - column) * right
            aside = (columns - column) if down else (rows - row)
            inside = (ahead >= 0) & (ahead <= depth) & (abs(aside) <= ahead)
            output[inside & (grid != EDGE)] = FILLING
    return output
