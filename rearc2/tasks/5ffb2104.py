"""All objects slide to the right, each as a whole, until they meet the border or another object."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, colors, objects, place, random_shape

SMALL = [(1, 1), (1, 1), (1, 2), (2, 1), (2, 2), (2, 2), (1, 3), (3, 1), (2, 3), (3, 2), (3, 3)]


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(6, 15), rng.randint(6, 15)
    count = rng.randint(3, 3 + height * width // 18)
    palette = colors(rng, rng.randint(3, 7))
    before = canvas(height, width)
    shapes: list[tuple[Mask, int]] = []  # in the whole grid, and the colour
    sizes = [rng.choice(SMALL) for _ in range(count)]
    for size, (top, left) in zip(sizes, place(rng, before.shape, sizes, gap=rng.randint(0, 1)), strict=True):
        shape = np.zeros(before.shape, bool)
        shape[top : top + size[0], left : left + size[1]] = random_shape(rng, *size, rng.uniform(0.5, 1))
        shapes.append((shape, rng.choice(palette)))
        before[shape] = shapes[-1][1]
    if len(objects(before, diagonal=False)) != count:  # two of one colour touch; at a corner they may
        raise Retry
    after = canvas(height, width)
    while shapes:
        # One that has no other on its right goes first; without one they hook into each other.
        free = [pair for pair in shapes if not any(_before(pair[0], other[0]) for other in shapes)]
        if not free:
            raise Retry
        shape, color = free[0]
        shapes = [pair for pair in shapes if pair[0] is not shape]
        while not shape[:, -1].any() and not after[np.roll(shape, 1, axis=1)].any():
            shape = np.roll(shape, 1, axis=1)
        after[shape] = color
    return before, after


def _before(one: Mask, other: Mask) -> bool:
    """Whether a cell of the one lies left of a cell of the other, in the same row."""
    reach = np.logical_or.accumulate(one, axis=1)
    return one is not other and bool((reach & other).any())


def verify(grid: Grid) -> Grid:
    things = [(thing.color, thing.cells) for thing in objects(grid, diagonal=False)]
    moved = True
    while moved:
        moved = False
        for number, (color, cells) in enumerate(things):
            taken = {cell for other, (_, there) in enumerate(things) if other != number for cell in there}
            target = [(row, column + 1) for row, column in cells]
            if not any(column == grid.shape[1] or (row, column) in taken for row, column in target):
                things[number] = color, target
                moved = True
    output = np.zeros_like(grid)
    for color, cells in things:
        for cell in cells:
            output[cell] = color
    return output
