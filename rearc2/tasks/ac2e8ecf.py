"""Hollow rectangles rise and crosses fall, as whole things, until they meet the border or one of their kind. Both
kinds pass through each other."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, frame, objects, paint, place, retrying


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(12, 22), rng.randint(12, 22)
    counts = rng.randint(2, 2 + height * width // 120), rng.randint(2, 2 + height * width // 120)
    return retrying(lambda: _draw(rng, height, width, *counts), 1000)


def _draw(rng: Random, height: int, width: int, ring_count: int, cross_count: int) -> tuple[Grid, Grid]:
    rings = [_ring(rng) for _ in range(ring_count)]
    crosses = [_cross(rng) for _ in range(cross_count)]
    things = rings + crosses
    palette = [rng.randint(1, 9) for _ in things]
    places = place(rng, (height, width), [thing.shape for thing in things], gap=rng.randint(0, 1))
    before, after = canvas(height, width), canvas(height, width)
    for thing, color, (top, left) in zip(things, palette, places, strict=True):
        paint(before, thing, top, left, color)
    if len(objects(before)) < len(things):
        raise Retry  # two things of one colour touch
    # Per column, of the things in place; the last for whole boxes.
    ceiling, floor, box_floor = np.zeros(width, int), np.full(width, height), np.full(width, height)
    for number in sorted(range(len(rings)), key=lambda number: places[number]):
        ring, left = rings[number], places[number][1]
        columns = slice(left, left + ring.shape[1])
        paint(after, ring, ceiling[columns].max(), left, palette[number])
        ceiling[columns] = ceiling[columns].max() + ring.shape[0]
    order = range(len(rings), len(things))
    for number in sorted(order, key=lambda number: -places[number][0] - things[number].shape[0]):
        cross, left = things[number], places[number][1]
        columns = slice(left, left + cross.shape[1])
        # How far each column of the cross reaches down decides where it comes to rest.
        reach = cross.shape[0] - cross[::-1].argmax(axis=0)
        top = int((floor[columns] - reach).min())
        if top != box_floor[columns].min() - cross.shape[0]:
            raise Retry  # it would rest on an arm, inside the other's box: no official case shows that
        floor[columns] = top + cross.argmax(axis=0)
        box_floor[columns] = top
        if top < 0 or after[top : top + cross.shape[0], columns].any():
            raise Retry
        paint(after, cross, top, left, palette[number])
    return before, after


def _ring(rng: Random) -> Mask:
    ring = canvas(rng.randint(3, 5), rng.randint(3, 5))
    frame(ring, 0, 0, *ring.shape, 1)
    return ring > 0


def _cross(rng: Random) -> Mask:
    cross = np.zeros((rng.randint(3, 5), rng.randint(3, 5)), bool)
    cross[rng.randint(1, cross.shape[0] - 2)] = True
    cross[:, rng.randint(1, cross.shape[1] - 2)] = True
    return cross


def verify(grid: Grid) -> Grid:
    return _settle(grid, boxes=False)


def rival_boxes(grid: Grid) -> Grid:
    """Things stop where their boxes meet."""
    return _settle(grid, boxes=True)


def _settle(grid: Grid, boxes: bool) -> Grid:
    things = objects(grid)
    output = np.zeros_like(grid)
    for rises in (True, False):
        kind = [thing for thing in things if thing.mask[0, 0] == rises]
        kind.sort(key=lambda thing: thing.top if rises else -thing.bottom)
        taken = np.zeros(grid.shape, bool)
        for thing in kind:
            body = np.ones_like(thing.mask) if boxes else thing.mask
            columns = slice(thing.left, thing.right + 1)
            top, step = thing.top, -1 if rises else 1
            while 0 <= top + step <= grid.shape[0] - thing.height:
                if (taken[top + step : top + step + thing.height, columns] & body).any():
                    break
                top += step
            taken[top : top + thing.height, columns] |= body
            paint(output, thing.patch, top, thing.left)
    return output
