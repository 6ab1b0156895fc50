"""The four dots around every red square move on clockwise by one corner. Each then sends a ray of its new colour
outwards over the diagonal, up to the border or the next red square."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, objects, place, retrying

RED = 2
DOTS = [3, 6, 7, 8]
WRONG = {
    "train 1": "the orange ray to the lower left ends in (7, 2), two cells before the border, at no red square"
}


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(8, 16)
    count = rng.randint(1, 2 + side // 10)
    return retrying(lambda: _draw(rng, side, count))


def _draw(rng: Random, side: int, count: int) -> tuple[Grid, Grid]:
    before, after = canvas(side, side), canvas(side, side)
    spots = place(rng, before.shape, [(4, 4)] * count, gap=0)
    for top, left in spots:
        before[top + 1 : top + 3, left + 1 : left + 3] = RED
    after[before == RED] = RED
    rays = []
    for top, left in spots:
        colors = rng.sample(DOTS, 4)
        corners = [(0, 0), (0, 3), (3, 3), (3, 0)]  # clockwise
        for number, (down, right) in enumerate(corners):
            row, column = top + down, left + right
            before[row, column] = colors[number]
            after[row, column] = colors[number - 1]
            rays.append((row, column, down // 3 * 2 - 1, right // 3 * 2 - 1, colors[number - 1]))
    for row, column, down, right, color in rays:
        row, column = row + down, column + right
        while 0 <= row < side and 0 <= column < side and after[row, column] != RED:
            if after[row, column]:  # which of two rays is on top is not shown anywhere
                raise Retry
            after[row, column] = color
            row, column = row + down, column + right
    return before, after


def verify(grid: Grid) -> Grid:
    output = np.where(grid == RED, RED, 0)
    for square in objects(output):
        around = slice(square.top - 1, square.bottom + 2), slice(square.left - 1, square.right + 2)
        turned = np.rot90(grid[around], -1)
        for corner, step in (((0, 0), (-1, -1)), ((0, 3), (-1, 1)), ((3, 0), (1, -1)), ((3, 3), (1, 1))):
            row, column = square.top - 1 + corner[0], square.left - 1 + corner[1]
            while 0 <= row < len(grid) and 0 <= column < len(grid) and grid[row, column] != RED:
                output[row, column] = turned[corner]
                row, column = row + step[0], column + step[1]
    return output
