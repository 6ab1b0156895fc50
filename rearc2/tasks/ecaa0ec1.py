"""A yellow dot at one corner of the square tells how it stands; three yellow dots around another corner tell where the
dot is to go. The square is turned so that its marked corner comes there, and only the dot at the new corner remains."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, box, canvas, paint, random_cells

BLUE, SKY, DOT = 1, 8, 4
# The corners counterclockwise, as steps down and right from the middle of the square.
CORNERS = ((-1, -1), (1, -1), (1, 1), (-1, 1))


def generate(rng: Random) -> tuple[Grid, Grid]:
    shape = rng.randint(10, 14), rng.randint(10, 14)
    square = random_cells(rng, (3, 3), (BLUE, SKY))
    turned = [np.rot90(square, turns) for turns in range(4)]
    if any((turned[0] == other).all() for other in turned[1:]):
        raise Retry
    row, column = rng.randint(4, shape[0] - 5), rng.randint(4, shape[1] - 5)  # the middle
    start, turns = rng.randrange(4), rng.randint(1, 3)
    before, after = canvas(*shape), canvas(*shape)
    paint(before, square, row - 1, column - 1)
    paint(after, turned[turns], row - 1, column - 1)
    down, right = CORNERS[start]
    before[row + 2 * down, column + 2 * right] = DOT
    down, right = CORNERS[(start + turns) % 4]
    after[row + 2 * down, column + 2 * right] = DOT
    for far_down, far_right in ((3, 3), (3, 1), (1, 3)):
        before[row + far_down * down, column + far_right * right] = DOT
    return before, after


def verify(grid: Grid) -> Grid:
    top, left, height, width = box((grid == BLUE) | (grid == SKY))
    around = [
        (top - 1, left - 1),
        (top + height, left - 1),
        (top + height, left + width),
        (top - 1, left + width),
    ]
    (start,) = [number for number, place in enumerate(around) if grid[place] == DOT]
    # Three of the four diagonal neighbours of the place to go to are dots.
    (end,) = [
        number
        for number, (r, c) in enumerate(around)
        if (grid[r - 1 : r + 2 : 2, c - 1 : c + 2 : 2] == DOT).sum() == 3
    ]
    output = np.zeros_like(grid)
    square = grid[top : top + height, left : left + width]
    output[top : top + height, left : left + width] = np.rot90(square, end - start)
    output[around[end]] = DOT
    return output
