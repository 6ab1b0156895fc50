"""The sky blue rectangle sends yellow light from all cells of its four sides straight to the border. Light passes over
red rectangles, blue ones stop it."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, fill, place

LAMP, LIGHT, GLASS, WALL = 8, 4, 2, 1


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(15, 25), rng.randint(15, 25)
    count = rng.randint(3, 11)
    sizes = [(rng.randint(3, 7), rng.randint(3, 7))]
    sizes += [(rng.randint(2, 6), rng.randint(2, 8)) for _ in range(count)]
    kinds = [LAMP, GLASS, WALL] + [rng.choice([GLASS, WALL]) for _ in range(count - 2)]
    before = canvas(height, width)
    spots = place(rng, before.shape, sizes)
    for (top, left), (tall, wide), kind in zip(spots, sizes, kinds, strict=True):
        fill(before, top, left, tall, wide, kind)
    (top, left), (tall, wide) = spots[0], sizes[0]
    if top < 2 or left < 2 or top + tall > height - 2 or left + wide > width - 2:
        raise Retry
    lit = np.zeros(before.shape, bool)
    for row in range(top, top + tall):
        walls = [-1, *np.flatnonzero(before[row] == WALL).tolist(), width]
        lit[
            row, max(wall for wall in walls if wall < left) + 1 : min(wall for wall in walls if wall > left)
        ] = True
    for column in range(left, left + wide):
        walls = [-1, *np.flatnonzero(before[:, column] == WALL).tolist(), height]
        lit[
            max(wall for wall in walls if wall < top) + 1 : min(wall for wall in walls if wall > top), column
        ] = True
    cross = np.zeros(before.shape, bool)
    cross[top : top + tall] = cross[:, left : left + wide] = True
    if not (before[lit] == GLASS).any() or not (before[cross] == WALL).any():
        raise Retry
    return before, np.where(lit & (before != LAMP), LIGHT, before)


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    height, width = grid.shape
    for lamp in np.argwhere(grid == LAMP).tolist():
        for down, right in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            row, column = lamp
            while 0 <= row < height and 0 <= column < width and grid[row, column] != WALL:
                if grid[row, column] != LAMP:
                    output[row, column] = LIGHT
                row, column = row + down, column + right
    return output
