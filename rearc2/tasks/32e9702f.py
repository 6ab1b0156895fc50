"""All bars move one cell to the left, over the border if need be, and black becomes grey."""

from random import Random

from rearc2.helpers import Grid, canvas, colors

GREY = 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.choice([rng.randint(3, 10), rng.randint(6, 16)])
    (color,) = colors(rng, 1, without=(0, GREY))
    before, after = canvas(side, side), canvas(side, side, GREY)
    row = rng.randint(0, 2)
    while row < side:
        length = rng.randint(2, min(side, 8))
        left = rng.choice([0, 1, side - length, rng.randint(0, side - length)])
        left = min(left, side - length)
        before[row, left : left + length] = color
        after[row, max(0, left - 1) : left + length - 1] = color
        row += rng.randint(2, 4)
    return before, after


def verify(grid: Grid) -> Grid:
    output = canvas(*grid.shape)
    output[:, :-1] = grid[:, 1:]
    output[output == 0] = GREY
    return output
