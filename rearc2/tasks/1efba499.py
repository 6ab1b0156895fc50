"""A long wall runs through the grid. Where two cells face each other across it, one on either side, they change sides
and stand right at the wall; all other cells stay."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, objects


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(12, 18), rng.randint(10, 20)
    wall, *sides = colors(rng, rng.choice([3, 3, 4]))
    tops, bottoms = _wall(rng, height, width)
    before, after = canvas(height, width), canvas(height, width)
    level = rng.random() < 0.25  # the cells of the upper side are in one row
    row = rng.randint(0, min(tops) - 1)
    crowded = rng.random() < 0.3
    pairs = 0
    for c, (top, bottom) in enumerate(zip(tops, bottoms, strict=True)):
        before[top : bottom + 1, c] = after[top : bottom + 1, c] = wall
        above = row if level else rng.randint(0, top - 1)
        below = rng.randint(bottom + 1, height - 1)
        upper, lower = sides[0], rng.choice(sides[1:])
        kind = rng.choice(["pair", "pair", "above", "above" if level or crowded else "none", "below", "none"])
        if kind == "pair":
            before[above, c], before[below, c] = upper, lower
            after[bottom + 1, c], after[top - 1, c] = upper, lower
            pairs += 1
        elif kind == "above":
            before[above, c] = after[above, c] = upper
        elif kind == "below":
            before[below, c] = after[below, c] = lower
    if pairs < 2:
        raise Retry
    sizes = sorted((thing.size, thing.color) for thing in objects(before))
    if sizes[-1][1] != wall or sizes[-2][0] > sizes[-1][0] // 2:
        raise Retry  # the wall does not stand out
    if rng.random() < 0.5:
        before, after = before.T, after.T
    return (before[::-1], after[::-1]) if rng.random() < 0.5 else (before, after)


def _wall(rng: Random, height: int, width: int) -> tuple[list[int], list[int]]:
    """First and last row in every column: a line, straight or winding, with thicker parts."""
    winding = rng.choice([0.0, 0.0, 0.5])
    middle = rng.randint(height // 2 - 2, height // 2 + 1)
    up = down = 0
    tops, bottoms = [], []
    for _ in range(width):
        if rng.random() < winding:
            middle = min(max(middle + rng.choice([-1, 1]), height // 2 - 2), height // 2 + 1)
        if rng.random() < 0.3:
            up, down = rng.choice(
                [(0, 0), (0, 0), (1, 1), (1, 0), (0, 1)] if not winding else [(0, 0), (0, 0), (1, 0)]
            )
        tops.append(middle - up)
        bottoms.append(middle + down)
    return tops, bottoms


def verify(grid: Grid) -> Grid:
    largest = max(objects(grid), key=lambda thing: thing.size)
    if largest.height > largest.width:
        return _swap(grid.T, largest.color).T
    return _swap(grid, largest.color)


def _swap(grid: Grid, wall: int) -> Grid:
    """Cells above and below the wall change sides."""
    output = grid.copy()
    for c, column in enumerate(grid.T):
        rows = np.flatnonzero(column == wall)
        if not len(rows):
            continue
        top, bottom = rows[0], rows[-1]
        above = np.flatnonzero(column[:top])
        below = bottom + 1 + np.flatnonzero(column[bottom + 1 :])
        if len(above) and len(below):
            output[above, c] = output[below, c] = 0
            output[bottom + 1, c], output[top - 1, c] = column[above[0]], column[below[0]]
    return output
