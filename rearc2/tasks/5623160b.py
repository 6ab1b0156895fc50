"""What touches a maroon figure flies off, straight away from it, as far as the border of the grid."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, colors, grow, objects, paint, place, random_shape

ORANGE, MAROON = 7, 9
STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(9, 22)
    before = canvas(side, side, ORANGE)
    anchors = []
    for _ in range(rng.randint(1, 1 + side // 5)):
        height, width = rng.choice([(1, 1), (1, 1), (1, 2), (2, 1), (2, 2), (3, 2), (3, 3), (4, 3), (5, 5)])
        anchors.append(random_shape(rng, height, width, rng.uniform(0.3, 0.6)))
    places = place(rng, before.shape, [shape.shape for shape in anchors], gap=3, margin=2)
    for shape, (top, left) in zip(anchors, places, strict=True):
        paint(before, shape, top, left, MAROON)
    after = before.copy()
    trails: Mask = np.zeros(before.shape, bool)  # where something flies or flew: free for nothing else
    movers = 0
    for color in colors(rng, rng.randint(3, 8), without=(ORANGE, MAROON)):
        shape = _mover(rng, before)
        if shape is None:
            continue
        ((down, right),) = _contacts(before == MAROON, shape)
        trail, last = shape, shape
        while not _at_border(last, down, right):
            last = np.roll(last, (down, right), axis=(0, 1))
            trail = trail | last
        if ((before != ORANGE) | trails)[trail].any():
            continue
        trails |= trail
        before[shape], after[last] = color, color
        movers += 1
    if movers < 2 or (before == after).all():
        raise Retry
    return before, after


def _mover(rng: Random, grid: Grid) -> Mask | None:
    """A small shape on free cells that touches maroon on one side only; None if none was found."""
    free = grid == ORANGE
    beside = np.argwhere(grow(grid == MAROON, diagonal=False) & free)
    for _ in range(20 if len(beside) else 0):
        shape = np.zeros(grid.shape, bool)
        shape[tuple(beside[rng.randrange(len(beside))])] = True
        for _ in range(rng.choice([0, 0, 1, 2, 3, 4, 6, 10, 18])):
            rim = np.argwhere(grow(shape, diagonal=False) & ~shape & free)
            if len(rim):
                shape[tuple(rim[rng.randrange(len(rim))])] = True
        if len(_contacts(grid == MAROON, shape)) == 1:
            return shape
    return None


def _contacts(maroon: Mask, shape: Mask) -> list[tuple[int, int]]:
    """The directions in which the shape lies next to maroon, seen from maroon."""
    framed = np.pad(maroon, 1)
    height, width = maroon.shape
    near = {step: framed[1 - step[0] :, 1 - step[1] :][:height, :width] for step in STEPS}
    return [step for step in STEPS if (near[step] & shape).any()]


def _at_border(shape: Mask, down: int, right: int) -> bool:
    side = {(-1, 0): shape[0], (1, 0): shape[-1], (0, -1): shape[:, 0], (0, 1): shape[:, -1]}[down, right]
    return bool(side.any())


def verify(grid: Grid) -> Grid:
    output = np.where(grid == MAROON, MAROON, ORANGE)
    framed = np.pad(grid, 1)
    height, width = grid.shape
    for thing in objects(grid, background=ORANGE, diagonal=False):
        if thing.color == MAROON:
            continue
        down, right = 0, 0
        for row, column in thing.cells:
            for step in STEPS:
                if framed[row + 1 - step[0], column + 1 - step[1]] == MAROON:
                    down, right = step
        top = {-1: 0, 0: thing.top, 1: height - thing.height}[down]
        left = {-1: 0, 0: thing.left, 1: width - thing.width}[right]
        output[top : top + thing.height, left : left + thing.width][thing.mask] = thing.color
    return output
