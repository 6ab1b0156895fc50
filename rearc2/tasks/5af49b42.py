"""The strips of colours in the corners are models: every single cell grows into the whole strip that its colour
belongs to, with that colour where the cell is; what leaves the grid is cut off."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, objects, place


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(10, 20), rng.randint(12, 22)
    count = rng.randint(1, 3)
    strips = [colors(rng, rng.randint(3, 6)) for _ in range(count)]
    if count == 1:
        strips = [colors(rng, rng.randint(5, 7))]
    before = canvas(height, width)
    for strip, (row, at_end) in zip(
        strips, rng.sample([(r, e) for r in (0, -1) for e in (0, 1)], count), strict=True
    ):
        start = width - len(strip) if at_end else 0
        if before[row].any() and len(strip) + np.count_nonzero(before[row]) > width - 2:
            raise Retry
        before[row, start : start + len(strip)] = strip
    after = before.copy()
    # Only a colour that occurs in one strip points at it.
    everywhere = [color for strip in strips for color in strip]
    single = [[color for color in strip if everywhere.count(color) == 1] for strip in strips]
    if not all(single):
        raise Retry
    chosen = [rng.randrange(count) for _ in range(rng.randint(2, 2 + height // 2))]
    chosen[:count] = range(count)
    pad = 4  # so far a strip may stick out
    taken = np.zeros((height, width + 2 * pad), bool)
    taken[[0, -1]] = True
    spots = place(rng, taken.shape, [(1, len(strips[number])) for number in chosen], taken=taken)
    for number, (row, left) in zip(chosen, spots, strict=True):
        strip = strips[number]
        color = rng.choice(single[number])
        column = left - pad + strip.index(color)
        if not 0 <= column < width:
            raise Retry
        before[row, column] = color
        for offset, cell in enumerate(strip):
            if 0 <= left - pad + offset < width:
                after[row, left - pad + offset] = cell
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    things = objects(grid, diagonal=False, same_color=False)
    strips = [thing.patch[0].tolist() for thing in things if thing.size > 1]
    for cell in (thing for thing in things if thing.size == 1):
        (strip,) = [strip for strip in strips if cell.color in strip]
        start = cell.left - strip.index(cell.color)
        for column, color in enumerate(strip, start):
            if 0 <= column < grid.shape[1]:
                output[cell.top, column] = color
    return output
