"""A red line runs from its dot to the opposite border. Before a bar across its way it turns aside until it can pass:
seen in its direction, a blue bar is passed on the left and a green one on the right."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, fill

RED, BLUE, GREEN, BAR = 2, 1, 3, 3


def generate(rng: Random) -> tuple[Grid, Grid]:
    length, width = rng.randint(13, 30), rng.randint(11, 16)
    before, after = canvas(length, width), canvas(length, width)
    column = rng.randint(1, width - 2)
    before[0, column] = RED
    row, hits = 0, 0  # the row of the last bars, which the line passes in `column`
    while True:
        bar_row = row + rng.choice([2, 2, 3, 3, 4])
        if bar_row > length - 2:
            break
        fill(after, row, column, bar_row - row, 1, RED)
        goal = column
        bars: list[tuple[int, int]] = []  # left end, colour
        if rng.random() < 0.85:
            color, left = rng.choice([BLUE, GREEN]), column - rng.randint(0, BAR - 1)
            goal = left + BAR if color == BLUE else left - 1  # down the grid, the line's left is our right
            if not (0 <= goal < width and 0 <= left <= width - BAR):
                raise Retry
            bars.append((left, color))
            hits += 1
        for _ in range(rng.randint(0, 2)):
            left = rng.randint(-1, width - 2)
            apart = all(abs(left - other) > BAR for other, _ in bars)
            if apart and not left <= goal < left + BAR:
                bars.append((left, bars[0][1] if bars and rng.random() < 0.8 else rng.choice([BLUE, GREEN])))
        for grid in (before, after):
            for left, color in bars:
                fill(grid, bar_row, left, 1, BAR, color)
        low, high = sorted((column, goal))
        after[bar_row - 1, low : high + 1] = RED
        row, column = bar_row, goal
    after[row:, column] = RED
    if hits < 2:
        raise Retry
    return (before, after) if rng.random() < 0.5 else (np.rot90(before), np.rot90(after))


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    ((r, c),) = np.argwhere(grid == RED).tolist()
    # A line from the upper border runs down, one from the left border to the right.
    down, right = (1, 0) if r == 0 else (0, 1)
    while 0 <= r + down < grid.shape[0] and 0 <= c + right < grid.shape[1]:
        bar = grid[r + down, c + right]
        if bar == 0:
            r, c = r + down, c + right
        else:
            # A quarter turn to the left of (down, right) is (-right, down).
            sign = 1 if bar == BLUE else -1
            r, c = r - sign * right, c + sign * down
        output[r, c] = RED
    return output
