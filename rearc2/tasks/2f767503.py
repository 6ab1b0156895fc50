"""The maroon cell shoots through the middle of the grey bar: every yellow object (joined over edges) that the beam hits
on its straight way disappears."""

from random import Random

import numpy as np

from rearc2.helpers import SIDES, Grid, Retry, canvas, flood, objects, random_shape, scatter, undo_to_top

YELLOW, GREY, FREE, MAROON = 4, 5, 7, 9


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(9, 18), rng.randint(9, 18)
    # Drawn with the beam going up, then turned.
    row, column = rng.randint(4, height - 2), rng.randint(1, width - 2)
    grid = canvas(height, width, FREE)
    grid[scatter(rng, grid.shape, rng.uniform(0.12, 0.22))] = YELLOW
    for _ in range(rng.randint(1, 4)):
        shape = random_shape(rng, rng.randint(2, 5), rng.randint(2, 4), 0.6)
        top, left = rng.randint(0, height - shape.shape[0]), rng.randint(0, width - shape.shape[1])
        part = grid[top : top + shape.shape[0], left : left + shape.shape[1]]
        part[shape] = YELLOW
    grid[row, column - 1 : column + 2] = GREY
    grid[row + 1, column] = MAROON
    after = grid.copy()
    hit = 0
    for thing in objects(np.where(grid == YELLOW, YELLOW, 0), diagonal=False):
        if any(c == column and r < row for r, c in thing.cells):
            after[tuple(np.array(thing.cells).T)] = FREE
            hit += thing.size
    if not 2 <= hit <= 16 or hit > 0.7 * (grid == YELLOW).sum():
        raise Retry
    side = rng.choice(SIDES)
    return undo_to_top(grid, side), undo_to_top(after, side)


def verify(grid: Grid) -> Grid:
    (cannon,) = np.argwhere(grid == MAROON)
    step = np.argwhere(grid == GREY).mean(axis=0).astype(int) - cannon
    rows, columns = np.indices(grid.shape)
    down, right = rows - cannon[0], columns - cannon[1]
    along = down * step[0] + right * step[1]
    beam = (along > 1) & (down * step[1] == right * step[0])
    hit = flood(grid == YELLOW, beam)
    return np.where(hit, FREE, grid)
