"""Every blue box has one gap in its wall. It is filled with red, which flows out through the gap straight to the
border."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, fill, frame, objects, place

WALL, RED = 1, 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    shape = rng.randint(7, 20), rng.randint(8, 20)
    most = max(1, shape[0] * shape[1] // 45)
    sizes = [
        (rng.choice([4, 4, 4, 5]), rng.choice([4, 4, 4, 5])) for _ in range(rng.randint(1, min(5, most)))
    ]
    (ground,) = colors(rng, 1, without=(0, WALL, RED))
    before = canvas(*shape, ground)
    boxes = [(*corner, *size) for corner, size in zip(place(rng, shape, sizes), sizes, strict=True)]
    for box in boxes:
        frame(before, *box, WALL)
    after = before.copy()
    for top, left, height, width in boxes:
        down, right = rng.randint(1, height - 2), rng.randint(1, width - 2)
        ways: list[tuple[tuple[int, int], tuple[int | slice, int | slice]]] = [  # gap, beam
            ((top, left + right), (slice(0, top + 1), left + right)),
            ((top + height - 1, left + right), (slice(top + height - 1, None), left + right)),
            ((top + down, left), (top + down, slice(0, left + 1))),
            ((top + down, left + width - 1), (top + down, slice(left + width - 1, None))),
        ]
        # The way out must meet no other box and no other beam.
        ways = [(gap, way) for gap, way in ways if (after[way] == WALL).sum() == 1 and RED not in after[way]]
        if not ways:
            raise Retry
        gap, way = rng.choice(ways)
        before[gap] = ground
        after[way] = RED
        fill(after, top + 1, left + 1, height - 2, width - 2, RED)
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for wall in objects(np.where(grid == WALL, 1, 0)):
        output[wall.top + 1 : wall.bottom, wall.left + 1 : wall.right] = RED
        border = np.ones_like(wall.mask)
        border[1:-1, 1:-1] = False
        ((row, column),) = np.argwhere(border & ~wall.mask).tolist()
        if row in (0, wall.height - 1):
            rows = slice(0, wall.top + 1) if row == 0 else slice(wall.bottom, None)
            output[rows, wall.left + column] = RED
        else:
            columns = slice(0, wall.left + 1) if column == 0 else slice(wall.right, None)
            output[wall.top + row, columns] = RED
    return output
