"""The inside of the frame is cut into four quarters. Each of the two dots gives its colour to the quarter next to it
and to the quarter diagonally across."""

from random import Random

from rearc2.helpers import SIDES, Grid, canvas, colors, fill, frame, to_top

SIDE, GREY = 10, 5
CAP = 220  # 4 sides, 8 x 7 colours


def generate(rng: Random) -> tuple[Grid, Grid]:
    left_color, right_color = colors(rng, 2, without=(0, GREY))
    before = canvas(SIDE, SIDE)
    frame(before, 2, 2, 6, 6, GREY)
    before[1, 1], before[1, 8] = left_color, right_color
    after = before.copy()
    for top, left, color in (3, 3, left_color), (3, 5, right_color), (5, 3, right_color), (5, 5, left_color):
        fill(after, top, left, 2, 2, color)
    side = rng.choice(SIDES)
    return to_top(before, side), to_top(after, side)


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    low, high = slice(3, 5), slice(5, 7)
    for row, near_row, far_row in (1, low, high), (8, high, low):
        for column, near_column, far_column in (1, low, high), (8, high, low):
            if grid[row, column]:
                output[near_row, near_column] = output[far_row, far_column] = grid[row, column]
    return output
