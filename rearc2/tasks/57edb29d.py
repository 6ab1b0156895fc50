"""All rectangles but one bear the same marks in their four corners, each the mirror image of the next. The output is
the blank rectangle with the marks put into its corners."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, colors, fill, objects

YELLOW = 4
SMALLEST = 5  # side of a rectangle
Box = tuple[int, int, int, int]  # top, left, height, width


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(16, 30), rng.randint(16, 30)
    boxes = _divide(rng, (1, 1, height - 2, width - 2))
    if not 3 <= len(boxes) <= 7:
        raise Retry
    if rng.random() < 0.3:  # loosely filled
        boxes = [_shrink(rng, box) for box in boxes]
    rng.shuffle(boxes)
    mark, *palette = colors(rng, len(boxes) + 1, without=(0, YELLOW))
    lengths = sorted((rng.randint(1, 3) for _ in range(rng.randint(1, 3))), reverse=True)
    sign = np.array([[column < length for column in range(max(lengths))] for length in lengths])
    if sign.sum() > 5:
        raise Retry
    before = canvas(height, width, YELLOW)
    for number, (box, color) in enumerate(zip(boxes, palette, strict=True)):
        fill(before, *box, color)
        if number:
            _mark(before, box, sign, mark)
    # At least one marked rectangle shows the four signs apart.
    if not any(h - 2 > 2 * sign.shape[0] and w - 2 > 2 * sign.shape[1] for _, _, h, w in boxes[1:]):
        raise Retry
    after = canvas(*boxes[0][2:], palette[0])
    _mark(after, (0, 0, *boxes[0][2:]), sign, mark)
    return before, after


def _divide(rng: Random, box: Box) -> list[Box]:
    """The box, cut by lines one cell wide again and again."""
    top, left, height, width = box
    along_rows = height > width if rng.random() < 0.7 else rng.random() < 0.5
    length = height if along_rows else width
    if length < 2 * SMALLEST + 1 or (height * width < 250 and rng.random() < 0.4):
        return [box]
    cut = rng.randint(SMALLEST, length - SMALLEST - 1)
    if along_rows:
        first, second = (top, left, cut, width), (top + cut + 1, left, height - cut - 1, width)
    else:
        first, second = (top, left, height, cut), (top, left + cut + 1, height, width - cut - 1)
    return _divide(rng, first) + _divide(rng, second)


def _shrink(rng: Random, box: Box) -> Box:
    top, left, height, width = box
    new_height, new_width = rng.randint(SMALLEST, height), rng.randint(SMALLEST, width)
    return (
        top + rng.randint(0, height - new_height),
        left + rng.randint(0, width - new_width),
        new_height,
        new_width,
    )


def _mark(grid: Grid, box: Box, sign: Mask, color: int) -> None:
    top, left, height, width = box
    rows, columns = np.nonzero(sign)
    for r in (top + 1 + rows, top + height - 2 - rows):
        for c in (left + 1 + columns, left + width - 2 - columns):
            grid[r, c] = color


def verify(grid: Grid) -> Grid:
    things = objects(grid, background=YELLOW, diagonal=False, same_color=False)
    corner = canvas(*grid.shape)
    for thing in things:
        half = thing.patch[: (thing.height + 1) // 2, : (thing.width + 1) // 2]
        # A small rectangle shows only a part of the sign.
        marked = half != thing.color
        corner[: half.shape[0], : half.shape[1]][marked] = half[marked]
    (blank,) = [thing for thing in things if (thing.patch == thing.color).all()]
    output = blank.patch.copy()
    for turned in (output, output[::-1], output[:, ::-1], output[::-1, ::-1]):
        sign = corner[: turned.shape[0] - 1, : turned.shape[1] - 1]
        turned[:-1, :-1][sign != 0] = sign[sign != 0]
    return output
