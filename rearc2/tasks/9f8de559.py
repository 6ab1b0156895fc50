"""The arrow with a red head and a purple shaft flies straight on over the orange field; the first cell of the frame
that it hits becomes orange."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, background, canvas, fill, line

FIELD, HEAD, SHAFT = 7, 2, 6
SIDE, LENGTH = 14, 4
STEPS = [(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if r or c]


def generate(rng: Random) -> tuple[Grid, Grid]:
    before = canvas(SIDE, SIDE)
    thick = [rng.randint(1, 3) for _ in range(4)]
    bands = [(0, 0, thick[0], SIDE), (SIDE - thick[1], 0, thick[1], SIDE)]
    bands += [(0, 0, SIDE, thick[2]), (0, SIDE - thick[3], SIDE, thick[3])]
    rng.shuffle(bands)
    for top, left, height, width in bands:
        # A band of one colour, crossed by up to two stripes or pieces of others.
        fill(before, top, left, height, width, rng.choice([5, 8, 9]))
        for _ in range(rng.randint(0, 2)):
            start, long = rng.randint(0, SIDE - 2), rng.choice([1, 2, 2, 3, 6])
            color = rng.choice([5, 8, 9])
            if height > width:
                fill(before, start, left, min(long, SIDE - start), width, color)
            else:
                fill(before, top, start, height, min(long, SIDE - start), color)
    if not {5, 8, 9} <= set(before.ravel().tolist()):
        raise Retry
    inner = slice(thick[0], SIDE - thick[1]), slice(thick[2], SIDE - thick[3])
    before[inner] = FIELD
    if background(before) != FIELD:
        raise Retry
    down, right = rng.choice(STEPS)
    field = [(r, c) for r, c in np.argwhere(before == FIELD).tolist()]
    head = rng.choice(field)
    tail = head[0] - LENGTH * down, head[1] - LENGTH * right
    if tail not in field:
        raise Retry
    flight = 1
    while (head[0] + flight * down, head[1] + flight * right) in field:
        flight += 1
    after = before.copy()
    after[head[0] + flight * down, head[1] + flight * right] = FIELD
    for grid in (before, after):
        line(grid, tail, head, SHAFT)
        grid[head] = HEAD
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    (row, column), *_ = np.argwhere(grid == HEAD).tolist()
    for down, right in STEPS:
        if grid[row - down, column - right] == SHAFT:
            row, column = row + down, column + right
            while grid[row, column] == FIELD:
                row, column = row + down, column + right
            output[row, column] = FIELD
            break
    return output
