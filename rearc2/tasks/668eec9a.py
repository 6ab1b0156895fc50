"""Lines of different colours cover the lower part of the grid. The output lists them as rows, in the order of their
topmost cells, down to the last of its five rows."""

from itertools import combinations
from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, ray, retrying

GROUND, SIDE = 7, 16
ROWS, COLUMNS = 5, 3


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(2, ROWS)
    return retrying(lambda: _draw(rng, count))  # the count is kept: many lines fail more often


def _draw(rng: Random, count: int) -> tuple[Grid, Grid]:
    lying = rng.random() < 0.6
    shades = colors(rng, count, without=(GROUND,))
    before, after = canvas(SIDE, SIDE, GROUND), canvas(ROWS, COLUMNS, GROUND)
    after[ROWS - count :] = np.array(shades)[:, None]
    slanted = shades
    if lying:  # the last line lies on the bottom, and the others may end on it
        slanted = shades[:-1]
        before[-1, rng.randint(0, 5) : SIDE - rng.randint(0, 5)] = shades[-1]
    starts = sorted(rng.sample(range(1, SIDE - 3), len(slanted)))
    ways = []
    for shade, row in zip(slanted, starts, strict=True):
        column, right = rng.randrange(SIDE), rng.choice([-1, 1])
        way = [(row, column), *ray(before, (row, column), (1, right), shade, through=GROUND)]
        if before[row, column] != GROUND or len(way) < 3:
            raise Retry
        before[row, column] = shade
        end_row, end_column = way[-1]
        if 0 < end_column < SIDE - 1 and end_row < SIDE - 1 - lying:
            raise Retry  # it ran into another one
        ways.append(dict(way))
    for one, other in combinations(ways, 2):
        gaps = {one[row] - other[row] for row in one if row in other}
        if gaps and (min(gaps) < 0 < max(gaps) or (len(gaps) == 1 and max(map(abs, gaps)) < 3)):
            raise Retry  # they cross between cells, or lie side by side
    return before, after


def verify(grid: Grid) -> Grid:
    shades = list(dict.fromkeys(int(cell) for cell in grid.ravel() if cell != GROUND))
    rows = [GROUND] * (ROWS - len(shades)) + shades
    return np.tile(np.array(rows)[:, None], (1, COLUMNS))
