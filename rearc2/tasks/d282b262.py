"""All chequered squares slide to the right until they meet the border or another square."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, objects, paint, place

SIDE = 15


def generate(rng: Random) -> tuple[Grid, Grid]:
    sizes = [rng.choice([2, 2, 2, 3, 3, 4, 5]) for _ in range(rng.randint(4, 7))]
    boxes = place(rng, (SIDE, SIDE), [(size, size) for size in sizes])
    before, after = canvas(SIDE, SIDE), canvas(SIDE, SIDE)
    ends = [SIDE] * SIDE  # where free space ends in each row
    blocked = False
    for (top, left), size in sorted(zip(boxes, sizes, strict=True), key=lambda square: -square[0][1]):
        square = np.array(colors(rng, 2))[np.add.outer(range(size), range(size)) % 2]
        paint(before, square, top, left)
        end = min(ends[top : top + size])
        paint(after, square, top, end - size)
        blocked |= end < SIDE
        ends[top : top + size] = [end - size] * size
    if not blocked:
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = canvas(*grid.shape)
    for square in sorted(objects(grid, same_color=False), key=lambda thing: -thing.right):
        left = square.left
        while left + square.width < grid.shape[1]:
            beside = output[square.top : square.bottom + 1, left + square.width]
            if beside.any():
                break
            left += 1
        paint(output, square.patch, square.top, left)
    return output
