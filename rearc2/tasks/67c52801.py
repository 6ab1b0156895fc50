"""The floor has gaps of different widths, and above it hover blocks that are two cells thick: each drops into the
gap that it fills, turned if need be, so that it stands two cells high."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors, fill, objects, place

THICK = 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    widths = rng.sample(range(1, 6), rng.randint(1, 4))
    floor, *shades = colors(rng, 1 + len(widths))
    teeth = [rng.randint(1, 4 if len(widths) < 3 else 2) for _ in range(len(widths) + 1)]
    width = sum(widths) + sum(teeth)
    air = rng.randint(2, 6) if len(widths) == 1 else rng.randint(max(widths) + 1, max(widths) + 6)
    blocks = [rng.choice([(THICK, wide), (wide, THICK)]) for wide in widths]
    before, after = canvas(air + 2, width), canvas(air + 2, width)
    before[-2:] = after[-2:] = floor
    column = 0
    spots = place(rng, (air, width), blocks)
    for wide, tooth, shade, block, (top, left) in zip(widths, teeth, shades, blocks, spots, strict=False):
        column += tooth
        fill(before, -2 + before.shape[0], column, 1, wide, 0)
        fill(after, -1 - THICK + after.shape[0], column, THICK, wide, shade)
        fill(before, top, left, *block, shade)
        column += wide
    return before, after


def verify(grid: Grid) -> Grid:
    floor = int(grid[-1, 0])
    gaps = {gap.width: gap.left for gap in objects(grid[-2:-1], background=floor)}
    output = np.where(grid == floor, floor, 0)
    for block in objects(grid[:-2]):
        wide = block.size // THICK
        output[-1 - THICK : -1, gaps[wide] : gaps[wide] + wide] = block.color
    return output
