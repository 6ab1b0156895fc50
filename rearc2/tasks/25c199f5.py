"""The shapes of the three panels are piled up at the bottom of one panel: the left one lowest, the right one on top.
Their columns stay."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, join, paint, random_shape, split, symmetric_shape

SIDE, GROUND, BAR = 5, 7, 6


def generate(rng: Random) -> tuple[Grid, Grid]:
    heights = rng.choice(
        [(1, 1, 1), (1, 1, 2), (1, 2, 1), (2, 1, 1), (2, 2, 1), (2, 1, 2), (1, 2, 2), (3, 1, 1)]
    )
    heights = heights if rng.random() < 0.6 else rng.choice([(1, 3, 1), (1, 1, 3), (3, 1, 1)])
    outer, inner = rng.sample([1, 5], 2)
    after = canvas(SIDE, SIDE, GROUND)
    panels = []
    floor = SIDE
    for height, color in zip(heights, (outer, inner, outer), strict=True):
        shape = _shape(rng, height)
        left = rng.randint(0, SIDE - shape.shape[1])
        panels.append(canvas(SIDE, SIDE, GROUND))
        paint(panels[-1], shape, rng.randint(0, SIDE - height), left, color)
        # See the rival: the shape must rest on the one below.
        if floor < SIDE and (after[floor, left : left + shape.shape[1]][shape[-1]] == GROUND).all():
            raise Retry
        floor -= height
        paint(after, shape, floor, left, color)
    return join([panels], BAR), after


def _shape(rng: Random, height: int) -> Mask:
    width = rng.randint(1, SIDE) if height == 1 else rng.randint(2, SIDE)
    if height == 3 and width > 2 and rng.random() < 0.4:
        ring = np.ones((height, width), bool)
        ring[1, 1:-1] = False
        return ring
    if rng.random() < 0.7:
        return symmetric_shape(rng, height, width, rng.uniform(0.4, 1))
    return random_shape(rng, height, width, rng.uniform(0.5, 1))


def verify(grid: Grid) -> Grid:
    (panels,) = split(grid, BAR)
    rows = [row for panel in reversed(panels) for row in panel if (row != GROUND).any()]
    return np.vstack([canvas(SIDE - len(rows), SIDE, GROUND), *rows])


def rival_fall(grid: Grid) -> Grid:
    """The shapes fall one after the other, each as far as it can."""
    (panels,) = split(grid, BAR)
    output = canvas(SIDE, SIDE, GROUND)
    for panel in panels:
        shape = panel[(panel != GROUND).any(axis=1)]
        top = 0
        while top + len(shape) < SIDE:
            below = output[top + 1 : top + 1 + len(shape)]
            if ((below != GROUND) & (shape != GROUND)).any():
                break
            top += 1
        rows = output[top : top + len(shape)]
        rows[shape != GROUND] = shape[shape != GROUND]
    return output
