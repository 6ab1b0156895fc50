"""Grey ways with one corner lead from the yellow cell to the two others: to the green one first across, then up or
down; to the red one first up or down, then across."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, line

RED, GREEN, YELLOW, GREY = 2, 3, 4, 5
SIDE = 13


def generate(rng: Random) -> tuple[Grid, Grid]:
    # No two in one row or column: every way has a corner, and none leads through another cell.
    rows, columns = rng.sample(range(1, SIDE - 1), 3), rng.sample(range(1, SIDE - 1), 3)
    red, green, yellow = zip(rows, columns, strict=True)
    lengths = [abs(yellow[0] - goal[0]) + abs(yellow[1] - goal[1]) for goal in (red, green)]
    if min(lengths) < 5 or sum(lengths) < 15:
        raise Retry
    before, after = canvas(SIDE, SIDE), canvas(SIDE, SIDE)
    for corner, goal in (((yellow[0], green[1]), green), ((red[0], yellow[1]), red)):
        line(after, yellow, corner, GREY)
        line(after, corner, goal, GREY)
    for grid in (before, after):
        grid[red], grid[green], grid[yellow] = RED, GREEN, YELLOW
    return before, after


def verify(grid: Grid) -> Grid:
    (red_row, red_column), (green_row, green_column), (row, column) = (
        np.argwhere(grid == color)[0].tolist() for color in (RED, GREEN, YELLOW)
    )
    ways = np.zeros(grid.shape, bool)
    ways[row, min(column, green_column) : max(column, green_column) + 1] = True
    ways[min(row, green_row) : max(row, green_row) + 1, green_column] = True
    ways[min(row, red_row) : max(row, red_row) + 1, column] = True
    ways[red_row, min(column, red_column) : max(column, red_column) + 1] = True
    return np.where(ways & (grid == 0), GREY, grid)
