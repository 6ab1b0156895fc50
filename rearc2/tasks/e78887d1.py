"""From row to row the signs move one column to the left, the first one to the end, while the columns keep their
colours. The output is the row that would come next."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, paint, scatter

COLORS = (1, 2, 3, 5)


def generate(rng: Random) -> tuple[Grid, Grid]:
    columns = rng.choice((3, 4))
    rows = rng.randint(1, 3)
    palette = rng.sample(COLORS, 4) if columns == 4 else rng.sample(COLORS[:3], 3)
    signs: list[Mask] = []
    while len(signs) < columns:
        sign = _sign(rng)
        if not any((sign == other).all() for other in signs):
            signs.append(sign)
    grid = canvas(4 * rows + 5, 4 * columns - 1)
    for row in range(rows + 1):
        for column, color in enumerate(palette):
            paint(grid, signs[(column + row) % columns], 4 * row + 1, 4 * column, color)
    return grid[: 4 * rows + 1], grid[4 * rows + 1 : -1]


def _sign(rng: Random) -> Mask:
    """A 3x3 sign that spans its box, mostly with a mirror symmetry."""
    sign = scatter(rng, (3, 3), 0.6)
    if rng.random() < 0.7:
        sign[:, 2] = sign[:, 0]
    if rng.random() < 0.5:
        sign = sign.T
    if not (sign[0].any() and sign[2].any() and sign[:, 0].any() and sign[:, 2].any()) or sign.all():
        raise Retry
    return sign


def verify(grid: Grid) -> Grid:
    last_row = grid[-4:-1]
    columns = [last_row[:, left : left + 3] for left in range(0, grid.shape[1], 4)]
    output = np.zeros_like(last_row)
    for number, column in enumerate(columns):
        source = columns[(number + 1) % len(columns)]
        output[:, 4 * number : 4 * number + 3] = np.where(source > 0, column.max(), 0)
    return output
