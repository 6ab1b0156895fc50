"""Plus-shaped stains lie on a picture of overlapping rectangles, each of its own colour. The stains are removed: what
was below follows from the rectangles and from which lies above which."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, box, canvas, colors, fill, paint, place, retrying

STAIN = 8
PLUS = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], bool)


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(9, 26), rng.randint(8, 24)
    area = height * width
    count = rng.randint(2, min(7, 2 + area // 50))
    stains = rng.randint(1, 2 + area // 60)
    return retrying(lambda: _draw(rng, height, width, count, stains), 1000)


def _draw(rng: Random, height: int, width: int, count: int, stains: int) -> tuple[Grid, Grid]:
    ground, *palette = colors(rng, 1 + count, (STAIN,))
    boxes: dict[int, tuple[int, int, int, int]] = {ground: (0, 0, height, width)}
    for color in palette:
        size = rng.randint(height // 3, height * 3 // 4), rng.randint(width // 3, width * 3 // 4)
        if rng.random() < 0.7:  # long and narrow ones cross without hiding each other
            narrow = rng.randint(2, max(2, height // 3)), rng.randint(2, max(2, width // 3))
            size = rng.choice([(size[0], narrow[1]), (narrow[0], size[1])])
        top, left = rng.randint(1, height - size[0] - 1), rng.randint(1, width - size[1] - 1)
        boxes[color] = top, left, *size
    _check_that_all_sides_show(boxes, width)
    after = canvas(height, width)
    for color, at in boxes.items():
        fill(after, *at, color)
    before = after.copy()
    for top, left in place(rng, (height, width), [(3, 3)] * stains, gap=0):
        paint(before, PLUS, top, left, STAIN)
    _check_that_it_shows(before, after, boxes)
    return before, after


def _check_that_all_sides_show(boxes: dict[int, tuple[int, int, int, int]], stride: int) -> None:
    """Raises Retry if a side of a box lies wholly below later boxes."""
    # A set of cells is a number with one bit per cell.
    covered = 0
    for top, left, height, width in reversed(boxes.values()):
        row = (1 << width) - 1 << top * stride + left
        column = sum(1 << r * stride + left for r in range(top, top + height))
        if not (row & ~covered and row << (height - 1) * stride & ~covered):
            raise Retry
        if not (column & ~covered and column << width - 1 & ~covered):
            raise Retry
        covered |= column * ((1 << width) - 1)


def _check_that_it_shows(before: Grid, after: Grid, boxes: dict[int, tuple[int, int, int, int]]) -> None:
    """Raises Retry unless all boxes can be seen, and of two boxes below a stain which one lies above the other."""
    inside = {}
    for color, (top, left, height, width) in boxes.items():
        if not (before == color).any() or box(before == color) != (top, left, height, width):
            raise Retry
        inside[color] = np.zeros(before.shape, bool)
        inside[color][top : top + height, left : left + width] = True
    for row, column in np.argwhere(before == STAIN):
        color = int(after[row, column])
        for other in boxes:
            both = inside[color] & inside[other]
            if other != color and inside[other][row, column] and not (both & (before == color)).any():
                raise Retry


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    boxes = {}
    for color in sorted(set(grid.ravel().tolist()) - {STAIN}):
        top, left, height, width = box(grid == color)
        boxes[color] = np.zeros(grid.shape, bool)
        boxes[color][top : top + height, left : left + width] = True
    below = {  # the rectangles on which this one is seen
        color: {other for other in boxes if other != color and (boxes[other] & (grid == color)).any()}
        for color in boxes
    }
    for row, column in np.argwhere(grid == STAIN):
        here = {color for color in boxes if boxes[color][row, column]}
        (output[row, column],) = [color for color in here if here - {color} <= below[color]]
    return output
