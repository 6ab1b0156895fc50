"""Every maroon rectangle is twice as long as wide and has a pink zigzag across its middle: it breaks there, the pink
cells vanish, and both halves move outwards by one cell."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, objects, paint, place

MAROON, PINK = 9, 6


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(8, 24)
    most = 1 + side * side // 45
    count = max(rng.randint(1, most), rng.randint(1, most))
    widths = [rng.choice([2, 2, 3, 4, rng.randint(2, 6)]) for _ in range(count)]
    widths = [width for width in widths if 2 * width + 2 <= side] or [2]
    upright = [rng.random() < 0.5 for _ in widths]
    sizes = [(2 * w + 2, w) if tall else (w, 2 * w + 2) for w, tall in zip(widths, upright, strict=True)]
    before, after = canvas(side, side), canvas(side, side)
    # A place has room for the halves after their move.
    for width, tall, (top, left) in zip(widths, upright, place(rng, before.shape, sizes), strict=True):
        whole = canvas(width, 2 * width, MAROON)
        phase = rng.randrange(2)
        for row in range(width):
            whole[row, width - 1 + (row + phase) % 2] = PINK
        halves = np.where(whole == PINK, 0, whole)
        apart = np.hstack([halves[:, :width], canvas(width, 2), halves[:, width:]])
        if tall:
            paint(before, whole.T, top + 1, left)
            paint(after, apart.T, top, left)
        else:
            paint(before, whole, top, left + 1)
            paint(after, apart, top, left)
    return before, after


def verify(grid: Grid) -> Grid:
    output = canvas(*grid.shape)
    for thing in objects(grid, same_color=False):
        rows, columns = np.indices(thing.mask.shape)
        tall = thing.height > thing.width
        along = rows if tall else columns
        first = along < max(thing.height, thing.width) // 2
        stays = thing.patch == MAROON
        paint(output, stays & first, thing.top - tall, thing.left - (not tall), MAROON)
        paint(output, stays & ~first, thing.top + tall, thing.left + (not tall), MAROON)
    return output
