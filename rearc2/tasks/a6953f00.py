"""The output is a 2x2 corner of the square: the upper right one if its side is even, the upper left one if odd."""

from random import Random

from rearc2.helpers import Grid, Retry, mostly, random_cells


def generate(rng: Random) -> tuple[Grid, Grid]:
    half, odd = mostly(rng, 2, 3, 6), rng.randint(0, 1)
    side = 2 * half - odd
    square = random_cells(rng, (side, side), range(10))
    left, right = square[:2, :2].copy(), square[:2, -2:].copy()
    if (left == right).all():
        raise Retry
    return square, left if odd else right


def verify(grid: Grid) -> Grid:
    column = 0 if len(grid) % 2 else len(grid) - 2
    return grid[:2, column : column + 2].copy()
