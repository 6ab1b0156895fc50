"""A notch in the side of a block becomes a cross, with one cell beyond the block, in the colour of the border that
the notch opens to."""

from random import Random

import numpy as np

from rearc2.helpers import SIDES, Grid, Retry, canvas, colors, objects, paint, place, to_top

SIDE = 30


def generate(rng: Random) -> tuple[Grid, Grid]:
    ground, ink, *borders = colors(rng, 6, without=(0, 5, 7, 9))
    before = canvas(SIDE, SIDE, ground)
    before[0], before[:, -1], before[-1], before[:, 0] = borders
    before[np.ix_([0, -1], [0, -1])] = 0
    after = before.copy()
    sizes = [(rng.randint(5, 15), rng.randint(5, 15)) for _ in range(rng.randint(2, 6))]
    count = 0
    for (height, width), (top, left) in zip(sizes, place(rng, before.shape, sizes, 2, margin=2), strict=True):
        block, crosses = canvas(height, width, ink), canvas(height + 2, width + 2)
        for side in rng.choices(range(4), k=rng.randint(0, 4)):
            turned, turned_crosses = to_top(block, SIDES[side]), to_top(crosses, SIDES[side])  # views
            middle = rng.randint(2, turned.shape[1] - 3)
            if turned[:3, middle - 2 : middle + 3].all():  # no other notch is near
                turned[0, middle - 1 : middle + 2] = turned[1, middle] = 0
                turned_crosses[:3, middle + 1] = turned_crosses[1, middle : middle + 3] = borders[side]
                count += 1
        for grid in (before, after):
            paint(grid, block, top, left)
        paint(after, crosses, top - 1, left - 1)
    if count < 2:
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for block in objects(grid[1:-1, 1:-1], background=int(grid[1, 1])):
        # The block's box in the whole grid, one cell wider on every side.
        around = output[block.top : block.bottom + 3, block.left : block.right + 3]
        for side in SIDES:
            missing = to_top(block.patch, side) == 0
            for column in range(1, missing.shape[1] - 1):
                if missing[0, column - 1 : column + 2].all():
                    turned = to_top(around, side)
                    turned[:3, column + 1] = turned[1, column : column + 3] = to_top(grid, side)[0, 1]
    return output
