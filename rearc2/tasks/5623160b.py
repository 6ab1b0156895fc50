"""What touches a maroon figure flies off, straight away from it, as far as the border of the grid."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, colors, grow, objects, paint, place, random_shape

ORANGE, MAROON = 7, 9
STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))
SMALL = ((1, 1), (1, 1), (1, 2), (2, 1), (2, 2), (3, 2), (3, 3), (4, 3), (5, 5))


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(9, 22)
    before = canvas(side, side, ORANGE)
    figures = []
    for _ in range(rng.randint(1, 1 + side // 5)):
        figures.append(random_shape(rng, *rng.choice(SMALL), rng.uniform(0.3, 0.6)))
    places = place(rng, before.shape, [figure.shape for figure in figures], gap=3, margin=2)
    for figure, (top, left) in zip(figures, places, strict=True):
        paint(before, figure, top, left, MAROON)
    after = before.copy()
    trails = np.zeros(before.shape, bool)  # nothing else may be where something flies
    # Where something would fly in each direction: the maroon figures keep off the border, so nothing wraps around.
    beside = {step: np.roll(before == MAROON, step, axis=(0, 1)) for step in STEPS}
    movers = 0
    for color in colors(rng, rng.randint(3, 8), without=(ORANGE, MAROON)):
        step = rng.choice(STEPS)
        others = np.any([beside[other] for other in STEPS if other != step], axis=0)
        mover = _mover(rng, beside[step], (before == ORANGE) & ~trails & ~others)
        if not mover.any():
            continue
        trail, last = mover, mover
        while not _ahead(last, step).any():
            last = np.roll(last, step, axis=(0, 1))
            trail = trail | last
        if not ((before != ORANGE) | trails)[trail].any():
            trails |= trail
            before[mover], after[last] = color, color
            movers += 1
    if movers < 3 or (before != after).sum() < 6:
        raise Retry
    return before, after


def _mover(rng: Random, start: Mask, free: Mask) -> Mask:
    """A small shape on free cells, one of them in `start`; empty if there is no place."""
    shape = np.zeros(free.shape, bool)
    rim = np.argwhere(start & free)
    for _ in range(rng.choice([1, 1, 2, 3, 4, 5, 7, 11, 19])):
        if len(rim):
            shape[tuple(rim[rng.randrange(len(rim))])] = True
        rim = np.argwhere(grow(shape, diagonal=False) & ~shape & free)
    return shape


def _ahead(shape: Mask, step: tuple[int, int]) -> Mask:
    """The shape's cells on the border that the step leads to."""
    lines = {(-1, 0): shape[0], (1, 0): shape[-1], (0, -1): shape[:, 0], (0, 1): shape[:, -1]}
    return lines[step]


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
