"""The cells enclosed by the left ring are written out in its colour, three to a row, then those of the right ring from
the next row on."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, background, canvas, colors, grow, holes, paint, random_shape

HEIGHT, WIDTH = 4, 9


def generate(rng: Random) -> tuple[Grid, Grid]:
    before, after = canvas(HEIGHT, WIDTH), canvas(3, 3)
    left, row = 0, 0
    widths = rng.randint(1, 4), rng.randint(1, 4)
    slack = WIDTH - 4 - sum(widths)
    if slack < 0:
        raise Retry
    for width, color in zip(widths, colors(rng, 2), strict=True):
        inside = np.pad(random_shape(rng, rng.randint(1, 2), width, 0.75), 1)
        shift = rng.randint(0, slack)
        left, slack = left + shift, slack - shift
        top = rng.randint(0, HEIGHT - inside.shape[0])
        paint(before, grow(inside) & ~inside, top, left, color)
        left += width + 2
        rows = -(-int(inside.sum()) // 3)
        if row + rows > 3:
            raise Retry
        after[row : row + rows].flat[: int(inside.sum())] = color
        row += rows
    if background(before) != 0:
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    first_columns = {
        color: (grid == color).any(axis=0).argmax() for color in np.unique(grid[grid > 0]).tolist()
    }
    lines = []
    for color in sorted(first_columns, key=lambda color: first_columns[color]):
        count = int(holes(grid == color).sum())
        lines += [color] * count + [0] * (-count % 3)
    return np.array(lines + [0] * (9 - len(lines))).reshape(3, 3)
