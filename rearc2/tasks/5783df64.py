"""The grid falls into 3x3 equal blocks with one coloured cell each: the output holds these colours in that order."""

from random import Random

from rearc2.helpers import Grid, canvas, colors


def generate(rng: Random) -> tuple[Grid, Grid]:
    block = rng.choice([2, 2, 2, 3, 3, 3, 4, 5, 6])
    before, after = canvas(3 * block, 3 * block), canvas(3, 3)
    for number, color in enumerate(colors(rng, 9)):
        row, column = divmod(number, 3)
        before[row * block + rng.randrange(block), column * block + rng.randrange(block)] = color
        after[row, column] = color
    return before, after


def verify(grid: Grid) -> Grid:
    block = len(grid) // 3
    return grid.reshape(3, block, 3, block).max(axis=(1, 3))
