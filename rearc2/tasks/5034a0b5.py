"""Every dot that has the colour of one of the four sides moves one step towards that side, all at once; what touches
the side stays, and so do dots of other colours."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, random_shape

STEPS = [(-1, 0), (0, 1), (1, 0), (0, -1)]  # to the top, right, bottom and left


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(7, 14)
    last = side - 1
    ground, *palette = colors(rng, rng.randint(5, 8), without=())
    before = canvas(side, side, ground)
    before[0, 1:last], before[1:last, last], before[last, 1:last], before[1:last, 0] = palette[:4]
    after = before.copy()
    for _ in range(rng.randint(side // 2, side * side // 10)):
        number = rng.randrange(len(palette))
        down, right = STEPS[number] if number < 4 else (0, 0)
        cluster = random_shape(rng, rng.choice((1, 1, 2, 3)), rng.choice((1, 1, 2, 3)), 0.3, diagonal=True)
        corner = rng.randint(1, last - 1), rng.randint(1, last - 1)
        places = np.add(np.argwhere(cluster), corner)
        for row, column in places[(places < last).all(axis=1)].tolist():
            inside = 0 < row + down < last and 0 < column + right < last
            target = (row + down, column + right) if inside else (row, column)
            # No two dots end in one cell.
            if before[row, column] == after[target] == ground:
                before[row, column] = after[target] = palette[number]
    if (before != after).sum() < side:
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    ground = grid[0, 0]
    output[1:-1, 1:-1] = ground
    steps = {grid[0, 1]: (-1, 0), grid[1, -1]: (0, 1), grid[-1, 1]: (1, 0), grid[1, 0]: (0, -1)}
    last_row, last_column = grid.shape[0] - 1, grid.shape[1] - 1
    for row in range(1, last_row):
        for column in range(1, last_column):
            color = grid[row, column]
            if color != ground:
                down, right = steps.get(color, (0, 0))
                new_row = min(max(row + down, 1), last_row - 1)
                new_column = min(max(column + right, 1), last_column - 1)
                output[new_row, new_column] = color
    return output
