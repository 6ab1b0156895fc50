"""Red boxes on blue ground move right, those on sky blue ground move left, as far as their own ground goes."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, Thing, box, canvas, fill, objects

BLUE, SKY, RED = 1, 8, 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(8, 16), rng.randint(8, 16)
    side_by_side = rng.random() < 0.5
    if side_by_side:
        cut = rng.randint(4, width - 4)
        sizes = [(height, cut), (height, width - cut)]
    else:
        cut = rng.randint(4, height - 4)
        sizes = [(cut, width), (height - cut, width)]
    halves = [
        _half(rng, *size, ground) for size, ground in zip(sizes, rng.sample([BLUE, SKY], 2), strict=True)
    ]
    stack = np.hstack if side_by_side else np.vstack
    before, after = stack([half for half, _ in halves]), stack([half for _, half in halves])
    # Nor may boxes touch across the line between the grounds, before they move.
    if len(_red_boxes(before)) != sum(len(_red_boxes(half)) for half, _ in halves):
        raise Retry
    return before, after


def _red_boxes(grid: Grid) -> list[Thing]:
    return objects((grid == RED).astype(int))


def _half(rng: Random, height: int, width: int, ground: int) -> tuple[Grid, Grid]:
    """Boxes below one another, on one ground."""
    before, after = canvas(height, width, ground), canvas(height, width, ground)
    top, count = rng.randint(0, 2), 0
    while top < height:
        box_height, box_width = rng.randint(1, 3), rng.randint(1, min(4, width // 2))
        if top + box_height > height:
            break
        goal = width - box_width if ground == BLUE else 0
        left = rng.choice([column for column in range(width - box_width + 1) if column != goal])
        fill(before, top, left, box_height, box_width, RED)
        fill(after, top, goal, box_height, box_width, RED)
        top += box_height + rng.choice([0, 1, 1, 2])
        count += 1
    # Boxes that touch might be taken for one.
    if len(_red_boxes(before)) != count or not count:
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for ground in (BLUE, SKY):
        top, left, height, width = box(grid == ground)
        half = output[top : top + height, left : left + width]
        red_cells = (half == RED).sum(axis=1)
        half[:] = ground
        for row, count in zip(half, red_cells, strict=True):
            if ground == BLUE:
                row[width - count :] = RED
            else:
                row[:count] = RED
    return output
