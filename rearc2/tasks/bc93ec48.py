"""The objects in the four corners are copied clockwise into the next corner, drawn over what is there; the originals
are not erased."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, Thing, canvas, objects, paint, place, random_shape

FLOOR = 7
COLORS = [1, 2, 3, 4, 5, 6, 8, 9]


def generate(rng: Random) -> tuple[Grid, Grid]:
    height = width = rng.randint(8, 18)
    most = max(2, height // 4)
    # Clockwise from the upper left corner; one corner may be empty.
    shapes = [_corner_shape(rng, most, turns) for turns in range(4)]
    empty = rng.choice([None, None, rng.randrange(4)])
    tones = [rng.choice(COLORS) for _ in shapes]
    before = canvas(height, width, FLOOR)
    for number, shape in enumerate(shapes):
        if number != empty:
            paint(before, shape, *_corner(number, shape.shape, before.shape), tones[number])
    after = before.copy()
    for number, shape in enumerate(shapes):
        if number != empty:
            paint(after, shape, *_corner((number + 1) % 4, shape.shape, before.shape), tones[number])
    # Objects elsewhere stay, unless a copy covers them.
    count = rng.randint(height // 3, height - 3)
    others = [random_shape(rng, rng.randint(1, 3), rng.randint(1, 4), 0.7) for _ in range(count)]
    tones = [rng.choice(COLORS) for _ in others]
    taken = (before != FLOOR) | (after != FLOOR)
    spots = place(rng, before.shape, [shape.shape for shape in others], gap=rng.randint(0, 1), taken=taken)
    for shape, color, (top, left) in zip(others, tones, spots, strict=True):
        if {top, top + shape.shape[0]} & {0, height} and {left, left + shape.shape[1]} & {0, width}:
            raise Retry
        paint(before, shape, top, left, color)
        paint(after, shape, top, left, color)
    # Objects may touch, but two of one colour would be taken for one.
    if len(objects(before, background=FLOOR)) != len(others) + 4 - (empty is not None):
        raise Retry
    return before, after


def _corner_shape(rng: Random, most: int, turns: int) -> Grid:
    """A shape that fills the corner cell, for the upper left corner turned clockwise."""
    size = rng.randint(1, most), rng.randint(1, most)
    shape = random_shape(rng, *size, rng.choice([0.6, 1.0, 1.0]))
    if not shape[0, 0] or shape.sum() < 2:
        raise Retry
    return np.rot90(shape, -turns).astype(np.int64)


def _corner(number: int, size: tuple[int, int], whole: tuple[int, int]) -> tuple[int, int]:
    """Top and left of a box of that size in the corner, counted clockwise from the upper left one."""
    return (0 if number < 2 else whole[0] - size[0]), (0 if number in (0, 3) else whole[1] - size[1])


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    height, width = grid.shape
    corners = [(0, 0), (0, width - 1), (height - 1, width - 1), (height - 1, 0)]
    things: dict[tuple[int, int], Thing] = {}
    for thing in objects(grid, background=FLOOR, diagonal=False):
        things |= {cell: thing for cell in thing.cells if cell in corners}
    for number, corner in enumerate(corners):
        if corner in things:
            thing = things[corner]
            row, column = corners[(number + 1) % 4]
            top, left = (
                (0 if row == 0 else height - thing.height),
                (0 if column == 0 else width - thing.width),
            )
            output[top : top + thing.height, left : left + thing.width][thing.mask] = thing.color
    return output
