"""Blue cells stand on a diagonal at equal distances; red cells continue the row to the edge of the grid."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas

BLUE, RED = 1, 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.choice([15] + 4 * [rng.randint(10, 30)])
    step = rng.randint(2, 6)
    row, column = rng.randrange(step), rng.randrange(step)
    if rng.random() < 0.2:
        column = row
    elif rng.random() < 0.7:
        # Off the main diagonal; there is still no room for a cell before the first one.
        column = rng.randrange(side // 2)
        if rng.random() < 0.5:
            row, column = column, row
    if max(row, column) + 3 * step >= side:
        raise Retry  # nothing to continue
    before, after = canvas(side, side), canvas(side, side)
    for number in range(side):
        r, c = row + number * step, column + number * step
        if max(r, c) < side:
            after[r, c] = BLUE if number < 3 else RED
            before[r, c] = BLUE if number < 3 else 0
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    *_, before_last, last = np.argwhere(grid == BLUE)
    step = last - before_last
    place = last + step
    while (place < grid.shape).all():
        output[tuple(place)] = RED
        place += step
    return output


def rival(grid: Grid) -> Grid:
    """The row goes on in both directions."""
    output = grid.copy()
    first, second, *_ = np.argwhere(grid == BLUE)
    step = second - first
    for number in range(-30, 30):
        r, c = first + number * step
        if 0 <= r < grid.shape[0] and 0 <= c < grid.shape[1] and grid[r, c] == 0:
            output[r, c] = RED
    return output
