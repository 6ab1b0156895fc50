"""The empty row or column that cuts the figure in two is drawn green across the whole grid."""

from random import Random

from rearc2.helpers import Grid, Retry, box, canvas, colors, paint, random_shape, symmetric_shape

LINE = 3


def generate(rng: Random) -> tuple[Grid, Grid]:
    (color,) = colors(rng, 1, without=(0, LINE))
    width, upper = rng.randint(3, 7), rng.randint(1, 4)
    lower = upper if rng.random() < 0.6 else rng.randint(1, 4)
    if upper + lower < 3:
        lower += 1
    density = rng.uniform(0.4, 1)
    first = (
        symmetric_shape(rng, upper, width, density) if rng.random() < 0.7 else random_shape(rng, upper, width)
    )
    second = random_shape(rng, lower, width, density)
    if upper == lower and rng.random() < 0.8:
        second = first[::-1]
    top, left = rng.randint(1, 8 - upper - lower) if upper + lower < 8 else 0, rng.randint(1, 9 - width)
    before = canvas(10, 10)
    paint(before, first, top, left, color)
    paint(before, second, top + upper + 1, left, color)
    if (before > 0).sum() > 40:
        raise Retry
    after = before.copy()
    after[top + upper] = LINE
    return (before.T, after.T) if rng.random() < 0.5 else (before, after)


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    top, left, height, width = box(grid != 0)
    for row in range(top, top + height):
        if not grid[row].any():
            output[row] = LINE
    for column in range(left, left + width):
        if not grid[:, column].any():
            output[:, column] = LINE
    return output
