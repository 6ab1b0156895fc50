"""The net of coloured lines is drawn together: every gap shrinks to one cell, and what lies above at a crossing stays
above."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors


def generate(rng: Random) -> tuple[Grid, Grid]:
    across, upright = rng.randint(1, 4), rng.randint(1, 5)
    if not 3 <= across + upright <= 8:
        raise Retry
    rows, columns = _places(rng, across), _places(rng, upright)
    height, width = rows[-1] + 1 + rng.randint(1, 4), columns[-1] + 1 + rng.randint(1, 4)
    lines = [("row", number) for number in range(across)] + [("column", number) for number in range(upright)]
    rng.shuffle(lines)  # from the lowest to the uppermost
    before, after = canvas(height, width), canvas(2 * across + 1, 2 * upright + 1)
    for (kind, number), color in zip(lines, colors(rng, len(lines)), strict=True):
        if kind == "row":
            before[rows[number]] = after[2 * number + 1] = color
        else:
            before[:, columns[number]] = after[:, 2 * number + 1] = color
    if height == after.shape[0] or width == after.shape[1]:
        raise Retry
    return before, after


def _places(rng: Random, count: int) -> list[int]:
    """Where lines lie, with a gap before each."""
    places, last = [], -1
    for _ in range(count):
        last += 1 + rng.randint(1, 5 if count < 4 else 3)
        places.append(last)
    return places


def verify(grid: Grid) -> Grid:
    for _ in range(2):
        first = np.ones(len(grid), bool)
        first[1:] = (grid[1:] != grid[:-1]).any(axis=1)  # of equal lines side by side the first one stays
        grid = grid[first].T
    return grid.copy()
