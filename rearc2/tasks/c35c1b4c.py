"""The large one-coloured figure in the noise has lost some cells of its right half; they are put back so that the
figure is mirror symmetric about the middle of the grid."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, colors, objects, random_cells, random_shape

SIDE = 10


def generate(rng: Random) -> tuple[Grid, Grid]:
    color, *noise = colors(rng, 3)
    half = SIDE // 2
    height = rng.randint(6, 9)
    top = rng.randint(0, SIDE - height)
    figure = np.zeros((SIDE, SIDE), bool)
    # Rows of different breadth around the axis, some with a piece at the side.
    breadth = rng.randint(1, 4)
    for row in range(top, top + height):
        breadth = min(half, max(1, breadth + rng.randint(-2, 2)))
        figure[row, half - breadth : half] = True
    edge = random_shape(rng, 3, 3, 0.6)
    start = rng.randint(top, top + height - 3)
    figure[start : start + 3, half - 4 : half - 1] |= edge
    figure |= figure[:, ::-1]
    after = random_cells(rng, (SIDE, SIDE), [0, *noise])
    before = after.copy()
    after[figure] = color
    lost = np.zeros_like(figure)
    for _ in range(rng.randint(1, 3)):
        rows, columns = rng.randint(1, 4), rng.randint(1, 4)
        first, left = rng.randint(top, top + height - 1), rng.randint(half, SIDE - 2)
        lost[first : first + rows, left : left + columns] = True
    kept = figure & ~lost
    before[kept] = color
    things = objects(before, background=None, diagonal=False)
    largest = max(things, key=lambda thing: thing.size)
    if largest.color != color or not 3 <= (figure & lost).sum() <= 18:
        raise Retry
    if any(2 * thing.size > largest.size for thing in things if thing is not largest):
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    color = max(objects(grid, background=None, diagonal=False), key=lambda thing: thing.size).color
    figure = grid == color
    return np.where(figure | figure[:, ::-1], color, grid)


def rival_left(grid: Grid) -> Grid:
    """The figure's right half becomes the mirror image of its left half, what is there of it or not."""
    color = max(objects(grid, background=None, diagonal=False), key=lambda thing: thing.size).color
    output = grid.copy()
    left = grid[:, : SIDE // 2] == color
    output[:, SIDE // 2 :][left[:, ::-1]] = color
    return output
