"""One of the 5x5 tiles has another number of holes than all the others: it is the output."""

from collections import Counter
from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, background, canvas, objects, paint, place

SIZE = 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(12, 20), rng.randint(15, 22)
    color = rng.randint(1, 9)
    usual, odd = rng.sample(range(1, 5), 2)
    number = rng.randint(4, 7 if height * width > 300 else 5)
    tiles = [_tile(rng, color, odd)] + [_tile(rng, color, usual) for _ in range(number - 1)]
    before = canvas(height, width)
    for tile, (top, left) in zip(tiles, place(rng, before.shape, [(SIZE, SIZE)] * number), strict=True):
        paint(before, tile, top, left)
    if background(before) != 0:
        raise Retry
    return before, tiles[0]


def _tile(rng: Random, color: int, count: int) -> Grid:
    """A square with so many holes of one cell, which do not touch one another or the border."""
    while True:
        holes = rng.sample([(r, c) for r in range(1, SIZE - 1) for c in range(1, SIZE - 1)], count)
        if all(max(abs(a[0] - b[0]), abs(a[1] - b[1])) > 1 for a in holes for b in holes if a != b):
            break
    tile = canvas(SIZE, SIZE, color)
    for hole in holes:
        tile[hole] = 0
    return tile


def verify(grid: Grid) -> Grid:
    tiles = [grid[thing.slices] for thing in objects(grid)]
    counts = [int(np.sum(tile == 0)) for tile in tiles]
    rarest, _ = Counter(counts).most_common()[-1]
    return tiles[counts.index(rarest)].copy()
