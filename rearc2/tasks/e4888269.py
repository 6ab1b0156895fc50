"""The key, two columns wide, lists recolourings (left colour to right colour) that are carried out once each from top
to bottom, each on the result of those before, on all things beyond the dividing line."""

from random import Random

import numpy as np

from rearc2.helpers import (
    Grid,
    Mask,
    Retry,
    background,
    canvas,
    colors,
    fill,
    label,
    objects,
    paint,
    place,
    random_shape,
)


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(10, 30), rng.randint(13, 30)
    (ground,) = colors(rng, 1) if rng.random() < 0.35 else (0,)
    palette = colors(rng, 8 if ground else 9, without=(0, ground))
    divider = palette[0]
    key = [tuple(rng.sample(palette[1:], 2)) for _ in range(rng.randint(3, 7))]
    for number in range(1, len(key)):
        first, second = key[number]
        if rng.random() < 0.5:  # a chain: starts where an earlier one ends
            first = key[rng.randrange(number)][1]
        if rng.random() < 0.1:
            second = divider
        key[number] = first, second
    if any(first in (second, divider) for first, second in key):
        raise Retry
    winding = rng.random() < 0.3
    upright = rng.random() < 0.5
    wall = _wall(rng, width, height, winding).T if upright else _wall(rng, height, width, winding)
    regions, count = label(~wall, diagonal=False)
    if count != 2:
        raise Retry
    key_region = rng.randint(1, 2)
    before = canvas(height, width, ground)
    before[wall] = divider
    after = before.copy()
    ((top, left),) = place(rng, before.shape, [(len(key), 2)], taken=regions != key_region)
    for grid in (before, after):
        grid[top : top + len(key), left : left + 2] = key
    room = int((regions == 3 - key_region).sum())
    shapes = _things(rng, min(rng.randint(3, 10), room // 12), large=room > 250 and rng.random() < 0.7)
    chained = 0
    spots = place(rng, before.shape, [shape.shape for shape in shapes], taken=regions != 3 - key_region)
    for shape, (r, c) in zip(shapes, spots, strict=True):
        color = rng.choice(key)[0] if rng.random() < 0.8 else rng.choice(palette[1:])
        paint(before, shape, r, c, color)
        steps = 0
        for first, second in key:
            if color == first:
                color, steps = second, steps + 1
        chained = max(chained, steps)
        paint(after, shape, r, c, color)
    if chained < rng.choice([1, 2, 2]):
        raise Retry
    return before, after


def _wall(rng: Random, height: int, width: int, winding: bool) -> Mask:
    """A line from the left border to the right one, straight or with steps up and down."""
    wall = canvas(height, width)
    row = rng.randint(height // 3, 2 * height // 3)
    for column in range(width):
        wall[row, column] = 1
        if winding and column % 2 and rng.random() < 0.4:
            goal = min(max(row + rng.randint(-5, 5), 4), height - 5)
            fill(wall, min(row, goal), column, abs(row - goal) + 1, 1, 1)
            row = goal
    return wall > 0


def _things(rng: Random, count: int, large: bool) -> list[Mask]:
    if not large:
        return [np.ones((1, 1), bool)] * count
    return [
        random_shape(rng, rng.randint(1, 5), rng.randint(1, 5), rng.uniform(0.4, 0.8)) for _ in range(count)
    ]


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    things = objects(grid, background(grid), same_color=False)
    (key,) = [thing for thing in things if len(np.unique(thing.patch[thing.mask])) > 1]
    for thing in things:
        divides = thing.height == grid.shape[0] or thing.width == grid.shape[1]
        if thing is key or divides:
            continue
        color = thing.color
        for first, second in key.patch.tolist():
            color = second if color == first else color
        output[thing.slices][thing.mask] = color
    return output
