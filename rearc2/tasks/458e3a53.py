"""Lines part a striped grid into square fields. Some fields, in a rectangle, are filled with one colour each: the
output has a cell for each of them."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, colors, random_cells, split, splits


def generate(rng: Random) -> tuple[Grid, Grid]:
    size = rng.randint(3, 6)
    fields = 31 // (size + 1) - rng.choice([0, 0, 1])
    line, *wave = colors(rng, 7, without=())
    wave += wave[-2:0:-1]  # up and down again
    side = fields * (size + 1) - 1
    row, column = np.indices((side, side))
    before = np.array(wave)[(column + rng.choice([1, -1]) * row + rng.randrange(10)) % 10]
    rows, columns = rng.randint(1, min(4, fields - 1)), rng.randint(2, min(4, fields - 1))
    palette = colors(rng, rng.randint(3, 5), without=(line,))
    after = random_cells(rng, (rows, columns), palette)
    if len(np.unique(after)) < min(3, after.size):
        raise Retry
    top, left = rng.randint(0, fields - rows), rng.randint(0, fields - columns)
    for r in range(rows):
        for c in range(columns):
            field = before[(top + r) * (size + 1) :, (left + c) * (size + 1) :]
            field[:size, :size] = after[r, c]
    before[size :: size + 1] = line
    before[:, size :: size + 1] = line
    return before, after


def verify(grid: Grid) -> Grid:
    rows, _ = splits(grid)
    fields = split(grid, int(grid[rows[0], 0]))
    plain = [[int(field[0, 0]) for field in band if (field == field[0, 0]).all()] for band in fields]
    return np.array([band for band in plain if band])
