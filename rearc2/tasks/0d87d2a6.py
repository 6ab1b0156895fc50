"""Two blue cells at opposite edges are joined by a blue line. Red rectangles that a line crosses or touches turn
blue."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, fill, grow, objects, place

BLUE, RED = 1, 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(10, 26), rng.randint(13, 26)
    across, upright = rng.choice([(0, 1), (1, 1), (1, 1), (2, 1), (1, 2), (1, 0), (0, 2)])
    rows, columns = _apart(rng, height, across), _apart(rng, width, upright)
    before, after = canvas(height, width), canvas(height, width)
    least = height * width // 60
    sizes = [_size(rng) for _ in range(rng.randint(least, least + 4))]
    touched = 0
    for (h, w), (top, left) in zip(sizes, place(rng, before.shape, sizes), strict=True):
        hit = any(top - 1 <= row <= top + h for row in rows) or any(
            left - 1 <= c <= left + w for c in columns
        )
        touched += hit
        fill(before, top, left, h, w, RED)
        fill(after, top, left, h, w, BLUE if hit else RED)
    if not 0 < touched < len(sizes):
        raise Retry
    ends = [(row, edge) for row in rows for edge in (0, width - 1)]
    ends += [(edge, column) for column in columns for edge in (0, height - 1)]
    for end in ends:
        if before[end]:
            raise Retry
        before[end] = BLUE
    after[rows] = BLUE
    after[:, columns] = BLUE
    return before, after


def _size(rng: Random) -> tuple[int, int]:
    if rng.random() < 0.08:
        return rng.randint(4, 6), rng.randint(5, 9)
    return rng.choice([2, 3, 3, 4, 4, 5]), rng.choice([2, 2, 3, 3, 4, 4, 5])


def _apart(rng: Random, length: int, count: int) -> list[int]:
    """Places of `count` lines, not at the edges and not close to each other."""
    lines = sorted(rng.sample(range(1, length - 1), count))
    if count == 2 and lines[1] - lines[0] < 4:
        raise Retry
    return lines


def verify(grid: Grid) -> Grid:
    rows = np.flatnonzero((grid[:, 0] == BLUE) & (grid[:, -1] == BLUE))
    columns = np.flatnonzero((grid[0] == BLUE) & (grid[-1] == BLUE))
    lines = np.zeros(grid.shape, bool)
    lines[rows] = True
    lines[:, columns] = True
    output = np.where(lines, BLUE, grid)
    near = grow(lines, diagonal=False)
    for thing in objects(np.where(grid == RED, grid, 0)):
        if near[thing.slices].any():
            output[thing.slices] = BLUE
    return output
