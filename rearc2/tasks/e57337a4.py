"""The grid is made five times smaller: a cell of the output is black if its five by five cells hold a black one."""

from random import Random

from rearc2.helpers import Grid, canvas, colors

TIMES = 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    (color,) = colors(rng, 1)
    before, after = canvas(15, 15, color), canvas(3, 3, color)
    for row, column in rng.sample([(r, c) for r in range(3) for c in range(3)], rng.randint(1, 4)):
        after[row, column] = 0
        before[TIMES * row + rng.randrange(TIMES), TIMES * column + rng.randrange(TIMES)] = 0
    return before, after


def verify(grid: Grid) -> Grid:
    return grid.reshape(3, TIMES, 3, TIMES).min(axis=(1, 3))
