"""Grey blocks stand in rows and columns. The lanes between them turn red, and go on in blue outside the blocks' box to
the edge of the grid."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, box, canvas

BLUE, RED, GREY = 1, 2, 5
BLOCK = 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.choice([(10, 10), (rng.randint(8, 15), rng.randint(8, 15))])
    tops, lefts = _starts(rng, height), _starts(rng, width)
    before, after = canvas(height, width), canvas(height, width)
    rows, columns = _lanes(tops), _lanes(lefts)
    after[rows] = BLUE
    after[:, columns] = BLUE
    after[tops[0] : tops[-1] + BLOCK, lefts[0] : lefts[-1] + BLOCK] = RED
    for grid in (before, after):
        for top in tops:
            for left in lefts:
                grid[top : top + BLOCK, left : left + BLOCK] = GREY
    if not (after == BLUE).any():
        raise Retry
    return before, after


def _starts(rng: Random, length: int) -> list[int]:
    """Where the blocks start: two or more, with lanes of one to three cells between them."""
    starts = [rng.randint(0, 3)]
    for _ in range(rng.randint(1, 3)):
        starts.append(starts[-1] + BLOCK + rng.choice([1, 1, 2, 2, 3]))
    if not 0 <= length - starts[-1] - BLOCK <= 4:
        raise Retry
    return starts


def _lanes(starts: list[int]) -> list[int]:
    blocks = {start + offset for start in starts for offset in range(BLOCK)}
    return [number for number in range(starts[0], starts[-1]) if number not in blocks]


def verify(grid: Grid) -> Grid:
    top, left, height, width = box(grid == GREY)
    inside = np.zeros(grid.shape, bool)
    inside[top : top + height, left : left + width] = True
    free_row, free_column = ~(grid == GREY).any(axis=1), ~(grid == GREY).any(axis=0)
    lanes = (free_row[:, None] & inside.any(axis=1)[:, None]) | (free_column & inside.any(axis=0))
    return np.where(lanes, np.where(inside, RED, BLUE), grid)
