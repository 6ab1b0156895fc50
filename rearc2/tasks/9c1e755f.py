"""At the end of every grey bar lies a pattern; it is repeated along the whole bar. Beside an upright bar it starts at
the bottom, below a lying bar at the left."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, objects, place, random_cells

BAR = 5
PALETTE = [1, 2, 3, 4, 6, 7, 8, 9]


def generate(rng: Random) -> tuple[Grid, Grid]:
    sides = []
    for _ in range(rng.choice([1, 2, 2])):
        period = rng.choice([1, 1, 2, 2, 2, 2, 3])
        pattern = random_cells(rng, (period, rng.randint(3, 7)), rng.sample(PALETTE, rng.randint(2, 6)))
        if (pattern == pattern[0, 0]).all():
            raise Retry
        repeats = max(rng.randint(2, 9 // period) for _ in range(period + 1))
        bar = canvas(period * repeats, 1, BAR)
        full = np.hstack([bar, np.vstack([pattern] * repeats)])
        start = full.copy()
        start[: period * (repeats - 1), 1:] = 0
        if rng.random() < 0.5:
            # Lying: a quarter turn clockwise brings the bar to the top and the start to the left.
            start, full = np.rot90(start, -1), np.rot90(full, -1)
        sides.append((start, full))
    before, after = canvas(10, 10), canvas(10, 10)
    for (start, full), (top, left) in zip(
        sides, place(rng, (10, 10), [s.shape for s, _ in sides]), strict=True
    ):
        before[top : top + len(start), left : left + start.shape[1]] = start
        after[top : top + len(full), left : left + full.shape[1]] = full
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for bar in objects(grid):
        if bar.color != BAR:
            continue
        if bar.height > 1:
            cells, whole = output[bar.top : bar.bottom + 1, bar.left + 1 :], bar.height
        else:
            # Views that turn a lying bar upright: left becomes the bottom, below becomes right.
            cells, whole = output[bar.top + 1 :, bar.left : bar.right + 1].T[::-1], bar.width
        gaps = np.flatnonzero(cells[-1] == 0)
        width = int(gaps[0]) if len(gaps) else cells.shape[1]
        period = int((cells[:, 0] != 0).sum())
        for row in range(whole - period - 1, -1, -1):
            cells[row, :width] = cells[row + period, :width]
    return output
