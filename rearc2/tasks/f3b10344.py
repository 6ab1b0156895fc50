"""Blocks of one colour that face each other are joined by a sky blue bridge, one cell narrower on both sides than the
stretch over which they face. No bridge closes a ring: the widest gap stays open.

All official bridges join blocks that are centred on each other, and the one gap that stays open is off centre. So only
centred blocks are drawn."""

from itertools import combinations
from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, Thing, canvas, colors, fill, objects

BRIDGE = 8


Block = tuple[int, int, int, int, int]  # top, left, height, width, colour


def generate(rng: Random) -> tuple[Grid, Grid]:
    shape = rng.choice([rng.randint(25, 30), 30]), rng.choice([rng.randint(27, 30), 30])
    palette = colors(rng, rng.randint(2, 3), without=(0, BRIDGE))
    broad = rng.choice((5, 8, 9))
    rows, columns = _bands(rng, shape[0], broad), _bands(rng, shape[1], broad)
    bands = [(row, column) for row in rows for column in columns]
    blocks: list[Block] = []
    bridges: list[tuple[int, int, int, int]] = []
    wanted = rng.randint(6, 13)
    for (top, height), (left, width) in rng.sample(bands, len(bands)):
        # Only even differences, so that the blocks of a band are centred on each other.
        high, wide = (
            height - 2 * rng.randint(0, min(1, (height - 3) // 2)),
            width - 2 * rng.randint(0, min(1, (width - 3) // 2)),
        )
        box = top + (height - high) // 2, left + (width - wide) // 2, high, wide
        for color in rng.sample(palette, len(palette)):
            found = _bridges(shape, [*blocks, (*box, color)])
            if found is not None and len(blocks) < wanted:
                blocks, bridges = [*blocks, (*box, color)], found
                break
    if len(blocks) < 5 or len(bridges) < len(blocks) // 2 or len({block[4] for block in blocks}) < 2:
        raise Retry
    before = canvas(*shape)
    for block in blocks:
        fill(before, *block)
    after = before.copy()
    for bridge in bridges:
        fill(after, *bridge, BRIDGE)
    return before, after


def _bands(rng: Random, length: int, broad: int) -> list[tuple[int, int]]:
    """Start and breadth of the rows or columns of blocks."""
    bands: list[tuple[int, int]] = []
    start = rng.randint(0, 4)
    while start + 3 <= length:
        breadth = min(rng.randint(broad - 2, broad), length - start)
        bands.append((start, breadth))
        start += breadth + rng.randint(2, broad)
    return bands


def _bridges(shape: tuple[int, int], blocks: list[Block]) -> list[tuple[int, int, int, int]] | None:
    """Top, left, height and width of all bridges; None where it is not plain which ones there are."""
    picture = canvas(*shape)
    for block in blocks:
        fill(picture, *block)
    bridges = []
    group = list(range(len(blocks)))  # blocks that hang together have one number
    for first, second in combinations(range(len(blocks)), 2):
        (top, left, height, width, color), (top2, left2, height2, width2, color2) = (
            blocks[first],
            blocks[second],
        )
        bottom, right = min(top + height, top2 + height2), min(left + width, left2 + width2)
        top, left = max(top, top2), max(left, left2)
        if color != color2 or (bottom <= top and right <= left):
            continue
        if bottom - top >= 3:
            bridge = top + 1, right, bottom - top - 2, left - right
        elif right - left >= 3:
            bridge = bottom, left + 1, top - bottom, right - left - 2
        else:
            return None  # they face each other too little
        if max(left - right, top - bottom) > 10:
            return None  # farther apart than any official ones
        way = picture[bridge[0] : bridge[0] + bridge[2], bridge[1] : bridge[1] + bridge[3]]
        if (way == color).any():
            continue  # a third block of the colour is between them
        # Bridges neither cross nor pass under another block; whether they may close a ring rests on one official case.
        if way.any() or group[first] == group[second]:
            return None
        way[:] = BRIDGE
        bridges.append(bridge)
        group = [group[first] if number == group[second] else number for number in group]
    return bridges


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    blocks = objects(grid)
    group = list(range(len(blocks)))
    bridges = _gaps(grid, blocks)
    for _, first, second, rows, columns, _ in sorted(bridges, key=lambda bridge: bridge[0]):
        if group[first] != group[second]:
            output[rows, columns] = BRIDGE
            group = [group[first] if number == group[second] else number for number in group]
    return np.asarray(output)


def rival_centred(grid: Grid) -> Grid:
    """Blocks are joined if they are centred on each other, whether or not that closes a ring."""
    output = grid.copy()
    for *_, rows, columns, centred in _gaps(grid, objects(grid)):
        if centred:
            output[rows, columns] = BRIDGE
    return np.asarray(output)


def _gaps(grid: Grid, blocks: list[Thing]) -> list[tuple[int, int, int, slice, slice, bool]]:
    """Breadth, the two blocks, rows, columns, and whether the blocks are centred on each other."""
    gaps = []
    for first, second in combinations(range(len(blocks)), 2):
        one, two = blocks[first], blocks[second]
        rows = slice(max(one.top, two.top) + 1, min(one.bottom, two.bottom))
        columns = slice(max(one.left, two.left) + 1, min(one.right, two.right))
        if one.color != two.color:
            continue
        if rows.stop > rows.start:
            columns = slice(min(one.right, two.right) + 1, max(one.left, two.left))
            centred = one.top + one.bottom == two.top + two.bottom
            gap = columns.stop - columns.start
        elif columns.stop > columns.start:
            rows = slice(min(one.bottom, two.bottom) + 1, max(one.top, two.top))
            centred = one.left + one.right == two.left + two.right
            gap = rows.stop - rows.start
        else:
            continue
        if not grid[rows, columns].any():
            gaps.append((gap, first, second, rows, columns, centred))
    return gaps
