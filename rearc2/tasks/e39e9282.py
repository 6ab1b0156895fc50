"""Maroon cells at a magenta block jump two cells, onto its middle line; at a grey block they grow one cell into
it, and the grey block disappears."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, fill, objects, place

GROUND, BLOCK, FADING, DOT = 8, 6, 5, 9
STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(9, 17)
    count = rng.randint(1, side * side // 26)
    before, after = canvas(side, side, GROUND), canvas(side, side, GROUND)
    corners = place(rng, before.shape, [(3, 3)] * count, gap=2)
    kinds = [BLOCK] + [rng.choice([BLOCK, FADING]) for _ in corners[1:]]
    for (top, left), kind in zip(corners, kinds, strict=True):
        fill(before, top, left, 3, 3, kind)
        if kind == BLOCK:
            fill(after, top, left, 3, 3, BLOCK)
    near = np.pad(before, 1, constant_values=GROUND)
    for (top, left), kind in zip(corners, kinds, strict=True):
        spots = [(side_step, along) for side_step in STEPS for along in range(3)]
        added = 0
        for (down, right), along in rng.sample(spots, rng.randint(1, 5)):
            # The cell beyond the middle of that side, moved along it.
            row = top + 1 + 2 * down + (along - 1) * abs(right)
            column = left + 1 + 2 * right + (along - 1) * abs(down)
            if not (0 <= row < side and 0 <= column < side) or before[row, column] != GROUND:
                continue
            touched = [near[row + 1 + r, column + 1 + c] in (BLOCK, FADING) for r, c in STEPS]
            inner = (row - 2 * down, column - 2 * right) if kind == BLOCK else (row - down, column - right)
            if sum(touched) > 1 or after[inner] == DOT:
                continue
            before[row, column] = after[inner] = DOT
            if kind == FADING:
                after[row, column] = DOT
            added += 1
        if not added:
            raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = np.where(grid == FADING, GROUND, grid)
    blocks = grid * ((grid == BLOCK) | (grid == FADING))
    for block in objects(blocks, diagonal=False):
        middle = block.top + 1, block.left + 1
        for row, column in np.argwhere(grid == DOT).tolist():
            down, right = row - middle[0], column - middle[1]
            if sorted((abs(down), abs(right))) not in ([0, 2], [1, 2]):
                continue
            step = (int(np.sign(down)), 0) if abs(down) == 2 else (0, int(np.sign(right)))
            if block.color == FADING:
                output[row - step[0], column - step[1]] = DOT
            else:
                output[row, column] = GROUND
                output[row - 2 * step[0], column - 2 * step[1]] = DOT
    return output
