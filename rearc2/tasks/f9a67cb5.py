"""Red flows from its source straight across the grid. Before each wall it spreads both ways to the next gap, or to the
border where there is none, and flows on through the gaps."""

from random import Random

import numpy as np

from rearc2.helpers import SIDES, Grid, Retry, canvas, to_top, undo_to_top

WALL, WATER = 8, 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(10, 20), rng.randint(10, 20)
    walls: list[int] = []
    row = rng.choice((2, 2, 3))
    while row < height - 1 and len(walls) < 5:
        walls.append(row)
        row += rng.randint(2, 4)
    if len(walls) < 2:
        raise Retry
    before = canvas(height, width)
    gaps = {}
    for wall in walls:
        gaps[wall] = sorted(rng.sample(range(width), rng.randint(1, 4)))
        before[wall] = WALL
        before[wall, gaps[wall]] = 0
    source = rng.randint(1, width - 2)
    before[0, source] = WATER
    after = before.copy()
    streams, start = {source}, 0
    for wall in walls:
        after[start:wall, sorted(streams)] = WATER
        reached = set()
        for stream in streams:
            before_it = [gap for gap in gaps[wall] if gap <= stream]
            behind_it = [gap for gap in gaps[wall] if gap >= stream]
            left, right = max(before_it, default=0), min(behind_it, default=width - 1)
            after[wall - 1, left : right + 1] = WATER
            reached |= {left} & set(before_it) | {right} & set(behind_it)
        streams, start = reached, wall
    after[start:, sorted(streams)] = WATER
    side = rng.choice(SIDES)
    return undo_to_top(before, side).copy(), undo_to_top(after, side).copy()


def verify(grid: Grid) -> Grid:
    (side,) = [side for side in SIDES if (to_top(grid, side)[0] == WATER).any()]
    output = to_top(grid, side).copy()
    height, width = output.shape
    fronts = [(0, int(np.argmax(output[0] == WATER)))]
    while fronts:
        row, column = fronts.pop()
        while row + 1 < height and output[row + 1, column] != WALL:
            row += 1
            output[row, column] = WATER
        if row + 1 == height:
            continue
        for step in (-1, 1):
            place = column
            while 0 <= place < width and output[row + 1, place] == WALL:
                output[row, place] = WATER
                place += step
            if 0 <= place < width:
                output[row, place] = WATER
                if output[row + 1, place] != WATER:
                    fronts.append((row, place))
    return undo_to_top(output, side)
