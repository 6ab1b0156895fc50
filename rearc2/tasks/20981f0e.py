"""The red dots mark off 4x4 fields; the 2x2 piece in each field moves to the middle of it."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, objects, paint

DOT, PIECE = 2, 1


def generate(rng: Random) -> tuple[Grid, Grid]:
    (height, dot_rows, tops), (width, dot_columns, lefts) = _axis(rng), _axis(rng)
    before, after = canvas(height, width), canvas(height, width)
    for grid in (before, after):
        grid[np.ix_(dot_rows, dot_columns)] = DOT
    for top in tops:
        for left in lefts:
            piece = np.ones((2, 2), bool)
            if rng.random() < 0.65:
                piece[rng.randrange(2), rng.randrange(2)] = False
            paint(before, piece, top + rng.randint(0, 2), left + rng.randint(0, 2), PIECE)
            paint(after, piece, top + 1, left + 1, PIECE)
    return before, after


def _axis(rng: Random) -> tuple[int, list[int], list[int]]:
    """Length of the grid, where the dots are, and where the fields begin: between dots, or after the last one."""
    first, dots, rest = rng.randint(0, 3), rng.randint(2, 5), rng.randint(0, 4)
    places = [first + 5 * number for number in range(dots)]
    fields = places if rest == 4 else places[:-1]
    return places[-1] + 1 + rest, places, [place + 1 for place in fields]


def verify(grid: Grid) -> Grid:
    rows, columns = np.nonzero(grid == DOT)
    output = np.where(grid == DOT, DOT, 0)
    for piece in objects(np.where(grid == PIECE, PIECE, 0)):
        above = rows[rows < piece.top].max()
        before = columns[columns < piece.left].max()
        paint(output, piece.patch, above + 2, before + 2)
    return output
