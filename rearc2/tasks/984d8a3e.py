"""Every row has three runs of colour. The middle run is pushed left, and left-hand cells change to its right side, as
far as needed to align its right end with that of the row where it ends first, or until no left-hand cell is left."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, colors


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(8, 20)
    left, middle, right = colors(rng, 3, without=())
    if 0 in (left, middle):
        raise Retry
    goal = rng.randint(side * 2 // 5, side * 3 // 5)  # where the middle run ends first
    before, after = [], []
    start, end = rng.randint(0, side // 3), rng.randint(goal, side)
    ends = []
    for _ in range(side):
        start = min(max(start + rng.randint(-2, 2), 0), goal - 2)
        end = min(max(end + rng.randint(-2, 2), goal), side)
        ends.append(end)
        shift = min(start, end - goal)
        before.append([left] * start + [middle] * (end - start) + [right] * (side - end))
        after.append(
            [left] * (start - shift) + [middle] * (end - start) + [left] * shift + [right] * (side - end)
        )
    if min(ends) != goal or max(ends) < goal + 2 or all(row[0] != left or row[-1] != right for row in before):
        raise Retry
    return np.array(before), np.array(after)


def verify(grid: Grid) -> Grid:
    rows = grid.tolist()
    complete = next(row for row in rows if len(set(row)) == 3)
    left, middle, right = dict.fromkeys(complete)  # from left to right
    ends = (grid != right).sum(axis=1)
    output = grid.copy()
    for row, end in zip(output, ends, strict=True):
        while end > ends.min() and row[0] == left:
            # One cell of the left run goes behind the middle run, which moves up.
            first = int(np.argmax(row == middle))
            row[first - 1], row[end - 1] = middle, left
            end -= 1
    return output
