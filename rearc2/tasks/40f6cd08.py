"""One rectangle is decorated with smaller ones, nested. The plain rectangles get the same decoration with the same
margins; only the innermost part stretches to the rectangle's size."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, background, box, canvas, colors, fill, objects, place


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.choice([27, 28, 29, 30, 30, 30]), rng.choice([27, 28, 29, 30, 30, 30])
    palette = colors(rng, rng.randint(3, 4))
    # Sides where the nested rectangles reach the border have no margin.
    closed = rng.choice([(1, 1, 1, 1), (1, 0, 1, 1), (1, 1, 0, 1), (0, 1, 0, 1), (0, 1, 1, 1), (1, 0, 1, 0)])
    margins = [(0, 0, 0, 0)]  # top, left, bottom, right of each layer
    for _ in palette[1:]:
        step = rng.choice([1, 2, 2, 3])
        margins.append(tuple(side + step * shut for side, shut in zip(margins[-1], closed, strict=True)))
    top, left, bottom, right = margins[-1]
    count = rng.choice([2, 3, 3, 4])
    sizes = [(top + bottom + rng.randint(1, 9), left + right + rng.randint(1, 9)) for _ in range(count)]
    if min(min(size) for size in sizes) < 4:
        raise Retry
    before, after = canvas(height, width), canvas(height, width)
    places = place(rng, before.shape, sizes, margin=1)
    if places[0] != min(places):
        raise Retry  # the decorated one is the first
    for number, ((row, column), (tall, wide)) in enumerate(zip(places, sizes, strict=True)):
        fill(before, row, column, tall, wide, palette[0])
        for color, (up, west, down, east) in zip(palette, margins, strict=True):
            for grid in (before, after) if number == 0 else (after,):
                fill(grid, row + up, column + west, tall - up - down, wide - west - east, color)
    if background(before) != 0:
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    rectangles = objects(grid, same_color=False)
    (model,) = [thing for thing in rectangles if len(np.unique(thing.patch)) > 1]
    boxes = [box(model.patch == color) for color in np.unique(model.patch)]
    top, left, height, width = min(boxes, key=lambda part: part[2] * part[3])  # of the innermost rectangle
    for thing in rectangles:
        rows = _stretch(top, model.height - top - height, model.height, thing.height)
        columns = _stretch(left, model.width - left - width, model.width, thing.width)
        output[thing.slices] = model.patch[np.ix_(rows, columns)]
    return output


def _stretch(before: int, behind: int, length: int, wanted: int) -> list[int]:
    """The model's lines to take: its margins as they are, and a line of its core as often as needed."""
    return [*range(before), *[before] * (wanted - before - behind), *range(length - behind, length)]
