"""Every rectangle carries marks of one common colour. The largest is the output; each smaller one is laid on it
where its marks meet equal marks, and covers what is there."""

from random import Random

import numpy as np

from rearc2.helpers import (
    Grid,
    Mask,
    Retry,
    background,
    canvas,
    colors,
    objects,
    place,
    retrying,
    scatter,
)

Box = tuple[int, int, int, int]  # top, left, height, width


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(6, 14), rng.randint(5, 17)
    marks = _marks(rng, height, width)
    count = rng.randint(1, 3)
    boxes = retrying(lambda: _windows(rng, marks, count))
    ground, mark, *bases = colors(rng, count + 3)
    sheets = [np.where(marks, mark, bases[0])]
    for (top, left, tall, wide), base in zip(boxes, bases[1:], strict=True):
        sheets.append(np.where(marks[top : top + tall, left : left + wide], mark, base))
    before, after = canvas(30, 30, ground), sheets[0].copy()
    for (top, left, tall, wide), sheet in zip(boxes, sheets[1:], strict=True):
        after[top : top + tall, left : left + wide] = sheet
    for (top, left), sheet in zip(place(rng, (30, 30), [s.shape for s in sheets]), sheets, strict=True):
        before[top : top + sheet.shape[0], left : left + sheet.shape[1]] = sheet
    return before, after


def _marks(rng: Random, height: int, width: int) -> Mask:
    """A few small figures that do not touch; often copies of one."""
    figures = [
        np.ones((rng.randint(1, 2), rng.randint(1, 3)), bool),
        np.pad(np.zeros((1, 1), bool), 1, constant_values=True),
        scatter(rng, (rng.randint(2, 3), rng.randint(2, 3)), 0.6),
    ]
    chosen = rng.choices(figures, [4, 1, 1], k=rng.randint(1, 2))
    chosen = [chosen[k % len(chosen)] for k in range(rng.randint(2, 2 + height * width // 50))]
    marks = np.zeros((height, width), bool)
    spots = place(rng, (height, width), [figure.shape for figure in chosen], margin=1)
    for (top, left), figure in zip(spots, chosen, strict=True):
        marks[top : top + figure.shape[0], left : left + figure.shape[1]] = figure
    return marks


def _windows(rng: Random, marks: Mask, count: int) -> list[Box]:
    """Parts of the rectangle, each within the ones before or apart from them: it is clear which covers which."""
    # Sets of cells are numbers with one bit per cell and a free column between the rows.
    stride = marks.shape[1] + 1
    bits = sum(1 << row * stride + column for row, column in np.argwhere(marks).tolist())
    boxes: list[Box] = []
    covers: list[int] = []
    for _ in range(count):
        cover, window = retrying(lambda: _window(rng, marks.shape, bits))
        if any(cover & other and (cover & ~other or cover == other) for other in covers):
            raise Retry
        boxes.append(window)
        covers.append(cover)
    return boxes


def _window(rng: Random, shape: tuple[int, int], marks: int) -> tuple[int, Box]:
    """A part of the rectangle that cuts no mark and whose marks occur in no other place: its cells and its box."""
    height, width = shape
    stride = width + 1
    tall, wide = rng.randint(3, height - 1), rng.randint(3, width - 1)
    top, left = rng.randint(0, height - tall), rng.randint(0, width - wide)
    column = ((1 << tall * stride) - 1) // ((1 << stride) - 1)
    corner = column * ((1 << wide) - 1)  # the window, moved to the upper left
    cover = corner << top * stride + left
    within = marks & cover
    if not within or within == cover:
        raise Retry
    across = within | within << 1 | within >> 1
    if (across | across << stride | across >> stride) & marks & ~within:
        raise Retry  # a mark is cut
    window = within >> top * stride + left
    places = [r * stride + c for r in range(height - tall + 1) for c in range(width - wide + 1)]
    if [marks >> place & corner for place in places].count(window) != 1:
        raise Retry
    return cover, (top, left, tall, wide)


def verify(grid: Grid) -> Grid:
    things = objects(grid, background(grid), same_color=False)
    things.sort(key=lambda thing: -thing.size)
    (mark,) = set.intersection(*[set(thing.patch.ravel().tolist()) for thing in things])
    output = things[0].patch.copy()
    for thing in things[1:]:
        wanted = thing.patch == mark
        places = [
            (top, left)
            for top in range(output.shape[0] - thing.height + 1)
            for left in range(output.shape[1] - thing.width + 1)
            if ((output[top : top + thing.height, left : left + thing.width] == mark) == wanted).all()
        ]
        ((top, left),) = places
        output[top : top + thing.height, left : left + thing.width] = thing.patch
    return output
