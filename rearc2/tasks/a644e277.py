"""The noisy board is cut by lines; at four crossings the lines have a gap. The output is the part of the board that has
these four crossings as its corners."""

from random import Random

from rearc2.helpers import Grid, background, canvas, colors, crop, scatter


def generate(rng: Random) -> tuple[Grid, Grid]:
    ground, lines, noise = colors(rng, 3)
    period = rng.randint(4, 6)
    height, width = (rng.randint(max(14, 3 * period), 30) for _ in range(2))
    board = canvas(height, width, ground)
    board[scatter(rng, board.shape, rng.uniform(0.08, 0.2))] = noise
    rows, columns = range(period - 1, height, period), range(period - 1, width, period)
    for row in rows:
        board[row] = lines
    for column in columns:
        board[:, column] = lines
    top, bottom = sorted(rng.sample(rows, 2))
    left, right = sorted(rng.sample(columns, 2))
    for corner in ((top, left), (top, right), (bottom, left), (bottom, right)):
        board[corner] = ground
    return board, board[top : bottom + 1, left : right + 1].copy()


def verify(grid: Grid) -> Grid:
    # A line shows no more of the ground than its two gaps.
    free = grid == background(grid)
    rows, columns = free.sum(axis=1) <= 2, free.sum(axis=0) <= 2
    return crop(grid, free & rows[:, None] & columns[None, :])
