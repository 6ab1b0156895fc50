"""Every winding line goes on straight from one of its ends to a dot. As many cells as it gains there take the dot's
colour at its other end."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, colors, grow, objects, ray, retrying

STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))
Way = list[tuple[int, int]]


def generate(rng: Random) -> tuple[Grid, Grid]:
    side, count = rng.randint(15, 30), rng.randint(1, 3)
    shades = colors(rng, 2 * count)
    before, after = canvas(side, side), canvas(side, side)
    tails = []
    for color, dot in zip(shades[:count], shades[count:], strict=True):
        way, gained = retrying(lambda: _way(rng, grow(after != 0)))
        for number, cell in enumerate(way):
            after[cell] = dot if number < gained else color
            before[cell] = color if number < len(way) - gained - 1 else 0
        before[way[-1]] = after[way[-1]] = dot
        tails.append((way[0], (way[0][0] - way[1][0], way[0][1] - way[1][1])))
    for tail, (down, right) in tails:
        row, column = [tail, *ray(before.copy(), tail, (down, right), 1)][-1]
        if np.pad(np.isin(before, shades[count:]), 1)[row + down + 1, column + right + 1]:
            raise Retry  # both ends point at a dot
    return before, after


def _way(rng: Random, taken: Mask) -> tuple[Way, int]:
    """A way with bends that touches neither itself nor what is taken, and how long its last straight part is to be."""
    side = len(taken)
    way = [(rng.randrange(side), rng.randrange(side))]
    down, right = rng.choice(STEPS)
    gained = rng.randint(1, 7)
    lengths = [rng.randint(1, 8) for _ in range(rng.randint(2, 4))]
    lengths[-1] += gained + 1
    for length in lengths:
        for _ in range(length):
            way.append((way[-1][0] + down, way[-1][1] + right))
        down, right = rng.choice([(right, down), (-right, -down)])
    if (
        not all(0 <= row < side and 0 <= column < side for row, column in way)
        or len(way) - gained - 1 <= gained + 1
    ):
        raise Retry
    drawn = np.zeros_like(taken)
    for row, column in way:
        near = [(row + a, column + b) for a, b in STEPS if 0 <= row + a < side and 0 <= column + b < side]
        if taken[row, column] or drawn[row, column] or sum(drawn[cell] for cell in near) > 1:
            raise Retry
        drawn[row, column] = True
    return way, gained


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    height, width = grid.shape
    dots = {thing.cells[0]: thing.color for thing in objects(grid) if thing.size == 1}
    for thing in objects(grid):
        for end in thing.cells if thing.size > 1 else []:
            inward = [(a, b) for a, b in STEPS if (end[0] + a, end[1] + b) in thing.cells]
            if len(inward) > 1:
                continue
            down, right = -inward[0][0], -inward[0][1]
            gap, cell = [], (end[0] + down, end[1] + right)
            while 0 <= cell[0] < height and 0 <= cell[1] < width and not grid[cell]:
                gap.append(cell)
                cell = cell[0] + down, cell[1] + right
            if cell in dots:
                for row, column in gap:
                    output[row, column] = thing.color
                for row, column in _from(end, thing.cells)[-len(gap) :]:
                    output[row, column] = dots[cell]
    return output


def _from(end: tuple[int, int], cells: Way) -> Way:
    """The cells of a line in order, the given end first."""
    way, left = [end], set(cells) - {end}
    while left:
        row, column = way[-1]
        way += [(row + a, column + b) for a, b in STEPS if (row + a, column + b) in left]
        left.discard(way[-1])
    return way
