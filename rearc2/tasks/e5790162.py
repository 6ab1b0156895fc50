"""A green beam starts to the right from the green cell; in front of a magenta cell it turns right, in front of a sky
blue one left, until it leaves the grid."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, ray

GREEN, TURN_RIGHT, TURN_LEFT = 3, 6, 8
RIGHT, DOWN, UP = (0, 1), (1, 0), (-1, 0)


def generate(rng: Random) -> tuple[Grid, Grid]:
    turns = rng.randint(1, 7)
    most = rng.choice([8, 12, 16]) if turns < 5 else 16
    height, width = rng.randint(6, most), rng.randint(6, most)
    row, column = rng.randint(1, height - 2), 0
    before, after = canvas(height, width), canvas(height, width)
    before[row, column] = after[row, column] = GREEN
    heading = RIGHT
    for _ in range(turns):
        # The beam goes up, down and to the right, as in the official pairs.
        new = rng.choice([UP, DOWN]) if heading == RIGHT else RIGHT
        turn = TURN_RIGHT if (heading, new) in ((RIGHT, DOWN), (UP, RIGHT)) else TURN_LEFT
        run = rng.randint(1, 5 if turns < 5 else 3)
        end = row + run * heading[0], column + run * heading[1]
        mirror = end[0] + heading[0], end[1] + heading[1]
        if not (0 <= mirror[0] < height and 0 <= mirror[1] < width):
            break
        for step in range(1, run + 1):
            cell = row + step * heading[0], column + step * heading[1]
            if after[cell]:
                raise Retry
            after[cell] = GREEN
        if after[mirror]:
            raise Retry
        before[mirror] = after[mirror] = turn
        (row, column), heading = end, new
    drawn = ray(after, (row, column), heading, GREEN)
    # A draw that ran into the border early is kept only if it still turns twice: otherwise one turn prevails.
    if not drawn or (before > GREEN).sum() < min(turns, 2):
        raise Retry
    edge = {RIGHT: drawn[-1][1] == width - 1, DOWN: drawn[-1][0] == height - 1, UP: drawn[-1][0] == 0}
    if not edge[heading]:
        raise Retry  # it met itself or a mirror
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    height, width = grid.shape
    row, column = np.argwhere(grid == GREEN)[0].tolist()
    down, right = RIGHT
    while 0 <= row < height and 0 <= column < width:
        output[row, column] = GREEN
        ahead = row + down, column + right
        inside = 0 <= ahead[0] < height and 0 <= ahead[1] < width
        if inside and grid[ahead] == TURN_RIGHT:
            down, right = right, -down
        elif inside and grid[ahead] == TURN_LEFT:
            down, right = -right, down
        row, column = row + down, column + right
    return output
