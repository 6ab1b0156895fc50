"""Sky blue cells within the red area vanish; those outside of it grow by one cell towards the side with the maroon
line."""

from random import Random

import numpy as np

from rearc2.helpers import (
    SIDES,
    Grid,
    Retry,
    background,
    grow,
    label,
    paint,
    random_shape,
    scatter,
    undo_to_top,
)

GROUND, RED, DOT, LINE = 7, 2, 8, 9


def generate(rng: Random) -> tuple[Grid, Grid]:
    size = rng.randint(8, 16)
    red = np.zeros((size, size), int)  # the line is drawn at the top and turned at the end
    for _ in range(rng.randint(1, 2)):
        height, width = rng.randint(3, size * 3 // 4), rng.randint(3, size * 3 // 4)
        shape = random_shape(rng, height, width, rng.uniform(0.5, 0.8))
        paint(red, shape, rng.randint(1, size - height), rng.randint(0, size - width), 1)
    area = red > 0
    before, after = np.where(area, RED, GROUND), np.where(area, RED, GROUND)
    dots = scatter(rng, before.shape, rng.uniform(0.1, 0.2))
    # Dots keep clear of the edge of the red area, so that it is plain where they belong.
    lost = dots & ~grow(~area, diagonal=False)
    free = dots & ~grow(area, diagonal=False)
    free[:2] = False
    if lost.sum() < 1 or free.sum() < 3 or area.sum() < 10:
        raise Retry
    before[lost | free] = DOT
    after[free] = DOT
    after[:-1][free[1:]] = DOT
    before[0] = after[0] = LINE
    if background(before) != GROUND:
        raise Retry
    side = rng.choice(SIDES)
    return undo_to_top(before, side), undo_to_top(after, side)


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    numbers, count = label(grid == DOT, diagonal=False)
    free = np.zeros(grid.shape, bool)
    for number in range(1, count + 1):
        dots = numbers == number
        if (grid[grow(dots, diagonal=False)] == RED).any():
            output[dots] = RED
        else:
            free |= dots
    rows, columns = np.nonzero(free)
    line = [(grid[0], -1, 0), (grid[-1], 1, 0), (grid[:, 0], 0, -1), (grid[:, -1], 0, 1)]
    ((down, right),) = [(down, right) for edge, down, right in line if (edge == LINE).all()]
    output[rows + down, columns + right] = DOT
    return output
