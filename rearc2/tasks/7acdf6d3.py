"""The loose cells gather in the cup that they fill exactly; the other cups stay empty."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, objects, paint, place

GROUND, COLORS = 7, (2, 9)


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(11, 20)
    cup, loose = rng.sample(COLORS, 2)
    make = rng.choice([_wedge, _box])
    cups = [make(rng) for _ in range(rng.choice([2, 2, 3]))]
    rooms = [int(hollow.sum()) for _, hollow in cups]
    # The loose cells fill the first cup, and no other nor all others together.
    if rooms[0] in rooms[1:] or rooms[0] == sum(rooms[1:]):
        raise Retry
    sizes = [wall.shape for wall, _ in cups]
    if rng.random() < 0.3 and rooms[0] > 1:
        sizes.append((rooms[0], 1))  # the loose cells as a pile
    else:
        sizes += [(1, 1)] * rooms[0]
    places = place(rng, (side, side), sizes)
    before, after = canvas(side, side, GROUND), canvas(side, side, GROUND)
    for (wall, _), (top, left) in zip(cups, places, strict=False):
        for grid in (before, after):
            paint(grid, wall, top, left, cup)
    paint(after, cups[0][1], *places[0], loose)
    for (height, width), (top, left) in zip(sizes[len(cups) :], places[len(cups) :], strict=True):
        before[top : top + height, left : left + width] = loose
    return before, after


def _wedge(rng: Random) -> tuple[Mask, Mask]:
    """The wall of a cup like a V and its hollow."""
    depth = rng.randint(1, 4)
    rows, columns = np.indices((depth + 1, 2 * depth + 1))
    wall = (columns == rows) | (columns == 2 * depth - rows)
    return wall, (columns > rows) & (columns < 2 * depth - rows)


def _box(rng: Random) -> tuple[Mask, Mask]:
    """The wall of a cup with a flat ground and its hollow."""
    hollow = np.pad(np.ones((rng.randint(1, 4), rng.randint(1, 4)), bool), ((0, 1), (1, 1)))
    return ~hollow, hollow


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for cup, loose in (COLORS, COLORS[::-1]):
        places = grid == loose
        for thing in objects(np.where(grid == cup, cup, 0)):
            # The hollow: between the walls, row by row.
            left = np.logical_or.accumulate(thing.mask, axis=1)
            right = np.logical_or.accumulate(thing.mask[:, ::-1], axis=1)[:, ::-1]
            hollow = left & right & ~thing.mask
            if hollow.any() and hollow.sum() == places.sum():
                output[places] = GROUND
                output[thing.slices][hollow] = loose
    return output
