"""A pattern made of small copies of itself: there is a copy wherever the pattern has a cell. What green hides is
restored, and each copy shows in sky blue which cell of the pattern it stands for."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, scatter

CELL, COVER, MARK = 2, 3, 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    size = rng.randint(3, 5)
    pattern = scatter(rng, (size, size), rng.uniform(0.35, 0.65))
    hidden = rng.randrange(size)
    pitch = size + 1
    side = size * pitch - 1
    # The pattern spans its square, and both hidden and visible copies exist.
    if not (pattern.any(axis=0).all() and pattern.any(axis=1).all()) or pattern.all() or pattern.sum() < 4:
        raise Retry
    after = canvas(side, side)
    for row, column in np.argwhere(pattern).tolist():
        copy = after[row * pitch : row * pitch + size, column * pitch : column * pitch + size]
        copy[pattern] = CELL
        copy[row, column] = MARK
    before = np.where(after == MARK, CELL, after)
    band = slice(hidden * pitch, hidden * pitch + size)
    if rng.random() < 0.5:
        before[band] = COVER
    else:
        before[:, band] = COVER
    return before, after


def verify(grid: Grid) -> Grid:
    size = round(len(grid) ** 0.5 - 0.5)
    starts = range(0, len(grid), size + 1)
    copies = [grid[top : top + size, left : left + size] for top in starts for left in starts]
    pattern = next(copy for copy in copies if CELL in copy and COVER not in copy)
    # One cell of margin behind each copy, cut off at the end.
    output = np.kron(pattern // CELL, np.pad(pattern, (0, 1)))[:-1, :-1]
    for row, column in np.argwhere(pattern == CELL).tolist():
        output[row * (size + 1) + row, column * (size + 1) + column] = MARK
    return output
