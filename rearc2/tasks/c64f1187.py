"""Every coloured dot above has a blue figure as its sign. On the board of grey tiles each tile with a dot becomes the
dot's figure in its colour, each tile without disappears; the output is the board alone."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, box, canvas, colors, paint

BLUE, GREY = 1, 5
FIGURES = [[[1, 1], [1, 1]], [[0, 1], [1, 1]], [[1, 0], [1, 1]], [[1, 1], [0, 1]], [[1, 1], [1, 0]]]


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(3, 4)
    figures = dict(zip(colors(rng, count, without=(0, BLUE, GREY)), rng.sample(FIGURES, count), strict=True))
    rows, columns = rng.randint(2, 5), rng.randint(3, 6)
    height, width = rng.randint(16, 22), rng.randint(17, 22)
    before = canvas(height, width)
    pitch = rng.randint(4, width // count)
    top, left = rng.randint(0, 1), rng.randint(0, width - pitch * count)
    for number, (color, figure) in enumerate(figures.items()):
        before[top, left + pitch * number] = color
        paint(before, np.array(figure), top + 1, left + pitch * number + 1, BLUE)
    if height - 3 * rows + 1 < 6 or width - 3 * columns + 1 < 0:
        raise Retry
    board_top, board_left = rng.randint(6, height - 3 * rows + 1), rng.randint(0, width - 3 * columns + 1)
    after = canvas(3 * rows - 1, 3 * columns - 1)
    empty = rng.uniform(0.1, 0.6)
    for row in range(0, 3 * rows, 3):
        for column in range(0, 3 * columns, 3):
            tile = before[board_top + row :, board_left + column :][:2, :2]
            tile[...] = GREY
            if rng.random() > empty:
                color = rng.choice(list(figures))
                tile[1, 1] = color
                paint(after, np.array(figures[color]), row, column, color)
    if not set(figures) <= set(after.ravel().tolist()):
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    top, left, height, width = box(grid == GREY)
    legend, board = grid[:top], grid[top : top + height, left : left + width]
    output = np.zeros_like(board)
    for row in range(0, height, 3):
        for column in range(0, width, 3):
            dot = int(board[row + 1, column + 1])
            if dot != GREY:
                ((above, before),) = np.argwhere(legend == dot).tolist()
                sign = legend[above + 1 : above + 3, before + 1 : before + 3]
                output[row : row + 2, column : column + 2] = np.where(sign == BLUE, dot, 0)
    return output
