"""Every blue frame is filled with sky blue; where its wall has a gap, the filling runs out through it straight to the
border of the grid."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, fill, frame, objects, place

BLUE, SKY = 1, 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    shape = rng.randint(18, 30), rng.randint(18, 30)
    count = rng.randint(3, 3 + shape[0] * shape[1] // 200)
    sizes = [(rng.randint(3, 9), rng.randint(4, 10)) for _ in range(count)]
    before = canvas(*shape)
    places = place(rng, shape, sizes, gap=1, margin=1)
    for (top, left), (height, width) in zip(places, sizes, strict=True):
        frame(before, top, left, height, width, BLUE)
    after = before.copy()
    for (top, left), (height, width) in zip(places, sizes, strict=True):
        fill(after, top + 1, left + 1, height - 2, width - 2, SKY)
        if rng.random() < 0.3:
            continue
        # All ways out that reach the border without meeting another frame or another beam.
        bottom, right = top + height - 1, left + width - 1
        ways: list[tuple[tuple[int, int], tuple[int | slice, int | slice]]]
        ways = [((row, left), (row, slice(0, left))) for row in range(top + 1, bottom)]
        ways += [((row, right), (row, slice(right + 1, None))) for row in range(top + 1, bottom)]
        ways += [((top, column), (slice(0, top), column)) for column in range(left + 1, right)]
        ways += [((bottom, column), (slice(bottom + 1, None), column)) for column in range(left + 1, right)]
        ways = [(gap, way) for gap, way in ways if not (after[way] != 0).any()]
        if ways:
            gap, way = rng.choice(ways)
            before[gap] = 0
            after[gap] = after[way] = SKY
    if not (after[[0, -1]].any() or after[:, [0, -1]].any()):  # no gap at all
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for wall in objects(grid, diagonal=True):
        output[wall.slices][~wall.mask] = SKY
        for row, column in np.argwhere(~wall.mask).tolist():
            way_row: int | slice = wall.top + row
            way_column: int | slice = wall.left + column
            if row in (0, wall.height - 1):
                way_row = slice(0, wall.top) if row == 0 else slice(wall.bottom, None)
            elif column in (0, wall.width - 1):
                way_column = slice(0, wall.left) if column == 0 else slice(wall.right, None)
            output[way_row, way_column] = SKY
    return output
