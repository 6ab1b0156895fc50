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
    retrying,
)

LOOP, FRAME = 1, 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    inner = rng.choice([3, 3, 5])
    height, width = rng.randint(20, 29), rng.randint(20, 29)
    count = rng.randint(3, 5 if inner == 5 else 6)
    return retrying(lambda: _draw(rng, inner, height, width, count), 500)


def _draw(rng: Random, inner: int, height: int, width: int, count: int) -> tuple[Grid, Grid]:
    top, left = rng.randint(2, 4), rng.randint(2, 4)
    bottom, right = height - 1 - rng.randint(2, 6), width - 1 - rng.randint(2, 6)
    # Sides of the loop by turns, clockwise, and where along its side each box lies: that is the order of the boxes.
    sides = sorted(SIDES * 2, key=SIDES.index)
    sides = [sides[number] for number in sorted(rng.sample(range(8), count))]
    boxes: list[tuple[int, int, tuple[int, int]]] = []
    for side in sides:
        level = side in ("top", "bottom")
        size = inner + 2
        across = {"top": top, "bottom": bottom, "left": left, "right": right}[side] - rng.randint(1, inner)
        # Boxes keep off the loop's corners.
        start, end = (left + 2, right - size - 1) if level else (top + 2, bottom - size - 1)
        places = [(across, along) if level else (along, across) for along in range(start, end)]
        places = [
            (r, c)
            for r, c in places
            if 0 <= r <= height - size
            and 0 <= c <= width - size
            and not any(abs(r - a) <= size and abs(c - b) <= size for _, _, (a, b) in boxes)
        ]
        if not places:
            raise Retry
        place = rng.choice(places)
        along = place[1] if level else place[0]
        boxes.append((SIDES.index(side), along if side in ("top", "right") else -along, place))
    boxes.sort()
    before = canvas(height, width)
    frame(before, top, left, bottom - top + 1, right - left + 1, LOOP)
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
