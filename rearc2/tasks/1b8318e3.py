"""Every coloured cell goes to the nearest grey block, straight or slanting, until it touches it at a side or a
corner."""

import math
from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, fill, objects, place

BLOCK = 5
# The places around a block, in the 4x4 box, and where a cell comes from that ends in row or column i of that box.
RING = [(i, j) for i in range(4) for j in range(4) if i in (0, 3) or j in (0, 3)]
PULL = (-1, 0, 0, 1)
WRONG = {"train 0": "the yellow cell stops below its block, not at the corner, which is nearer"}


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(10, 18)
    count = rng.randint(3, max(3, side * side // 36))
    blocks = place(rng, (side, side), [(2, 2)] * count, gap=3)
    before = canvas(side, side)
    for top, left in blocks:
        fill(before, top, left, 2, 2, BLOCK)
    after = before.copy()
    for _ in range(rng.randint(3 * count, 12 * count)):
        home = rng.choice(blocks)
        i, j = rng.choice(RING)
        end = home[0] - 1 + i, home[1] - 1 + j
        start = end[0] + PULL[i] * rng.randint(0, 5), end[1] + PULL[j] * rng.randint(0, 5)
        if min(start + end) < 0 or max(start + end) >= side or before[start] or after[end]:
            continue
        if all(_clearly_nearer(start, end, block) for block in blocks if block != home):
            before[start] = after[end] = rng.choice([1, 2, 3, 4, 6, 7, 8, 9])
    if np.sum(before != after) < 6:
        raise Retry
    return before, after


def _clearly_nearer(start: tuple[int, int], end: tuple[int, int], block: tuple[int, int]) -> bool:
    """Whether from start the end is nearer than any place at the block, by the steps and as the crow flies."""
    way = abs(start[0] - end[0]), abs(start[1] - end[1])
    others = [(abs(start[0] - block[0] + 1 - i), abs(start[1] - block[1] + 1 - j)) for i, j in RING]
    return sum(way) < min(map(sum, others)) and math.hypot(*way) < min(math.hypot(*other) for other in others)


def verify(grid: Grid) -> Grid:
    blocks = [thing for thing in objects(grid) if thing.color == BLOCK]
    output = np.where(grid == BLOCK, BLOCK, 0)
    ways = []
    for r, c in np.argwhere((grid != BLOCK) & (grid != 0)).tolist():
        for block in blocks:
            row = min(max(r, block.top - 1), block.bottom + 1)
            column = min(max(c, block.left - 1), block.right + 1)
            down, right = abs(row - r), abs(column - c)
            # Of two ways with equally many steps the straight one is the shorter.
            ways.append((down + right, min(down, right), (r, c), (row, column)))
    arrived = set()
    for _, _, start, end in sorted(ways):
        # Where another cell has come first there is no place left.
        if start not in arrived and not output[end]:
            arrived.add(start)
            output[end] = grid[start]
    return output
