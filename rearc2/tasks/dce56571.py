"""The figure's cells are laid out as one line in the middle row, centred."""

from random import Random

from rearc2.helpers import Grid, Retry, canvas, colors, paint, random_shape

GROUND = 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = 2 * rng.randint(2, 7) + 1, rng.randint(9, 30)
    tall, wide = rng.randint(2, min(9, height - 2)), rng.randint(3, min(9, width - 2))
    figure = random_shape(rng, tall, wide, rng.uniform(0.2, 0.7), diagonal=True)
    count = int(figure.sum())
    if count > width or (width - count) % 2:
        raise Retry
    (color,) = colors(rng, 1, without=(0, GROUND))
    before, after = canvas(height, width, GROUND), canvas(height, width, GROUND)
    paint(before, figure, rng.randint(1, height - tall - 1), rng.randint(1, width - wide - 1), color)
    start = (width - count) // 2
    after[height // 2, start : start + count] = color
    return before, after


def verify(grid: Grid) -> Grid:
    cells = grid[grid != GROUND]
    height, width = grid.shape
    output = canvas(height, width, GROUND)
    side = (width - len(cells)) // 2
    output[height // 2, side : width - side] = cells[0]
    return output
