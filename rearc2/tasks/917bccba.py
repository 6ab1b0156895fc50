"""A cross of two lines runs under a square frame. Its upright line moves to the frame's right side, its level line to
the frame's top side, and neither shows inside the frame any more."""

from random import Random

from rearc2.helpers import Grid, box, canvas, colors, fill, frame

SIDE = 12


def generate(rng: Random) -> tuple[Grid, Grid]:
    frame_color, line_color = colors(rng, 2)
    size = rng.randint(4, 10)
    top, left = rng.randint(1, SIDE - 1 - size), rng.randint(1, SIDE - 1 - size)
    row, column = top + rng.randint(1, size - 2), left + rng.randint(1, size - 2)
    before, after = canvas(SIDE, SIDE), canvas(SIDE, SIDE)
    before[row] = before[:, column] = line_color
    after[top] = after[:, left + size - 1] = line_color
    fill(after, top, left, size, size, 0)
    for grid in (before, after):
        frame(grid, top, left, size, size, frame_color)
    return before, after


def verify(grid: Grid) -> Grid:
    line_color = int(grid[0].max())
    framed = (grid != 0) & (grid != line_color)
    top, left, height, width = box(framed)
    output = canvas(*grid.shape)
    output[top] = output[:, left + width - 1] = line_color
    output[top : top + height, left : left + width] = 0
    output[framed] = grid[framed]
    return output
