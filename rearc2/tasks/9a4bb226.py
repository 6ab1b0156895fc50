"""Of the four 3x3 blocks only one has three colours, and it is the output."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, objects, paint, place, random_cells

SIDE = 15


def generate(rng: Random) -> tuple[Grid, Grid]:
    before = canvas(SIDE, SIDE)
    three, *pairs = colors(rng, 3), colors(rng, 2), colors(rng, 2), colors(rng, 2)
    if rng.random() < 0.5:  # no colour in two blocks
        shuffled = colors(rng, 9)
        three, pairs = shuffled[:3], [shuffled[3:5], shuffled[5:7], shuffled[7:]]
    blocks = [random_cells(rng, (3, 3), palette) for palette in (three, *pairs)]
    if [len(np.unique(block)) for block in blocks] != [3, 2, 2, 2]:
        raise Retry
    places = place(rng, before.shape, [(3, 3)] * len(blocks), margin=1)
    for block, (top, left) in zip(blocks, places, strict=True):
        paint(before, block, top, left)
    return before, blocks[0]


def verify(grid: Grid) -> Grid:
    (output,) = [thing.patch for thing in objects(grid, same_color=False) if len(np.unique(thing.patch)) == 3]
    return output
