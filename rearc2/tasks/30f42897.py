"""A stroke lies on the border of the grid: it is repeated all the way around, with gaps as long as itself."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors

BACKGROUND = 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.choice([rng.randint(3, 7), rng.randint(3, 14)]), rng.randint(3, 16)
    if rng.random() < 0.2:
        height, width = width, height
    border = _walk(height, width)
    lengths = [n for n in range(2, 9) if len(border) % (2 * n) == 0 and len(border) // (2 * n) >= 3]
    if not lengths:
        raise Retry
    length, (color,) = rng.choice(lengths), colors(rng, 1, without=(BACKGROUND,))
    start = rng.randrange(len(border))
    before, after = canvas(height, width, BACKGROUND), canvas(height, width, BACKGROUND)
    for step in range(len(border)):
        place = border[(start + step) % len(border)]
        if step < length:
            before[place] = color
        if step // length % 2 == 0:
            after[place] = color
    return before, after


def _walk(height: int, width: int) -> list[tuple[int, int]]:
    """The places of the border, clockwise from the top left corner."""
    return [
        *((0, column) for column in range(width - 1)),
        *((row, width - 1) for row in range(height - 1)),
        *((height - 1, column) for column in range(width - 1, 0, -1)),
        *((row, 0) for row in range(height - 1, 0, -1)),
    ]


def verify(grid: Grid) -> Grid:
    height, width = grid.shape
    rows, columns = np.indices(grid.shape)
    # How far along the border a cell is, clockwise from the top left corner.
    along = np.where(
        (rows == 0) | (columns == width - 1), rows + columns, 2 * (height + width - 2) - rows - columns
    )
    on_border = (rows == 0) | (columns == 0) | (rows == height - 1) | (columns == width - 1)
    around = 2 * (height + width - 2)
    stroke = grid != BACKGROUND
    length = int(stroke.sum())
    set_places = set(along[stroke].tolist())
    (start,) = [place for place in set_places if (place - 1) % around not in set_places]
    repeated = on_border & ((along - start) % (2 * length) < length)
    return np.where(repeated, grid[stroke][0], BACKGROUND)
