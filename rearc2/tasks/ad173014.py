"""Boxes hang on a blue loop, each with a picture of its own colour. Every picture takes the colour of the next box
along the loop, clockwise."""

from math import atan2
from random import Random

import numpy as np

from rearc2.helpers import (
    SIDES,
    Grid,
    Mask,
    Retry,
    box,
    canvas,
    colors,
    fill,
    frame,
    objects,
    paint,
    random_shape,
    spots,
)

LOOP, FRAME = 1, 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    inner = rng.choice([3, 3, 5])
    height, width = rng.randint(20, 30), rng.randint(20, 30)
    count = rng.randint(3, 6)
    before = canvas(height, width)
    top, left = rng.randint(2, 4), rng.randint(2, 4)
    bottom, right = height - 1 - rng.randint(2, 6), width - 1 - rng.randint(2, 6)
    frame(before, top, left, bottom - top + 1, right - left + 1, LOOP)
    # Sides of the loop by turns, clockwise, and where along its side each box lies: that is the order of the boxes.
    sides = sorted(SIDES * 2, key=SIDES.index)
    sides = [sides[number] for number in sorted(rng.sample(range(8), count))]
    taken = np.zeros(before.shape, bool)
    boxes = []
    for side in sides:
        across = rng.randint(1, inner)  # how far the loop lies inside the box
        along = rng.randint(2, width - inner - 4 if side in ("top", "bottom") else height - inner - 4)
        place = {
            "top": (top - across, left + along),
            "bottom": (bottom - across, left + along),
            "left": (top + along, left - across),
            "right": (top + along, right - across),
        }[side]
        corner_free = (
            left + 1 < place[1] < right - inner - 2
            if side in ("top", "bottom")
            else top + 1 < place[0] < bottom - inner - 2
        )
        if not corner_free or list(place) not in spots(taken, inner + 2, inner + 2).tolist():
            raise Retry
        fill(taken, max(0, place[0] - 1), max(0, place[1] - 1), inner + 4, inner + 4, 1)
        order = place[1] if side in ("top", "bottom") else place[0]
        boxes.append((SIDES.index(side), order if side in ("top", "right") else -order, place))
    boxes.sort()
    after = before.copy()
    palette = colors(rng, count, (0, LOOP, FRAME))
    for number, (_, _, (box_top, box_left)) in enumerate(boxes):
        picture = _picture(rng, inner)
        for grid, color in ((before, palette[number]), (after, palette[(number + 1) % count])):
            fill(grid, box_top, box_left, inner + 2, inner + 2, 0)
            frame(grid, box_top, box_left, inner + 2, inner + 2, FRAME)
            paint(grid, picture, box_top + 1, box_left + 1, color)
    return before, after


def _picture(rng: Random, inner: int) -> Mask:
    shape = random_shape(
        rng, rng.randint(inner - 1, inner), rng.randint(inner - 1, inner), 0.5, diagonal=True
    )
    picture = np.zeros((inner, inner), bool)
    paint(picture, shape, rng.randint(0, inner - shape.shape[0]), rng.randint(0, inner - shape.shape[1]), 1)
    return picture


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    top, left, height, width = box(grid == LOOP)
    boxes = []
    for thing in objects(np.where(grid == FRAME, FRAME, 0), diagonal=False):
        # Seen from the loop's middle, all boxes lie in the order of the loop, once it is scaled to a square.
        down = ((thing.top + thing.bottom) / 2 - top) / (height - 1) - 0.5
        right = ((thing.left + thing.right) / 2 - left) / (width - 1) - 0.5
        inside = grid[thing.slices]
        boxes.append((atan2(right, -down), inside[(inside != 0) & (inside != FRAME)][0], thing.slices))
    boxes.sort(key=lambda item: item[0])
    for (_, old, where), (_, new, _) in zip(boxes, boxes[1:] + boxes[:1], strict=True):
        output[where][grid[where] == old] = new
    return output
