"""The key in the top left corner pairs colours: every lattice of dots in the left colour gets a box, one cell larger
all around, in the right colour. The higher in the key, the further in front the box. The key disappears."""

from itertools import combinations
from random import Random

from rearc2.helpers import Grid, Retry, box, canvas, colors, fill

SIDE = 20


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.choice([2, 3, 3, 4])
    dots, fills = colors(rng, count), colors(rng, count)
    if any(dot == filling for dot, filling in zip(dots, fills, strict=True)):
        raise Retry
    boxes = []
    for _ in range(count):
        height, width = 1 + 2 * rng.randint(2, 8), 1 + 2 * rng.randint(2, 6)
        top, left = rng.randint(0, SIDE - height), rng.randint(0, SIDE - width)
        if top < count and left < 2:  # would cover the key
            raise Retry
        boxes.append((top, left, height, width))
    overlaps = 0
    for (top, left, height, width), (top_2, left_2, height_2, width_2) in combinations(boxes, 2):
        tall = min(top + height, top_2 + height_2) - max(top, top_2)
        wide = min(left + width, left_2 + width_2) - max(left, left_2)
        if tall > 0 and wide > 0:
            overlaps += 1
            if tall < 2 or wide < 2:  # too thin to hide a dot
                raise Retry
    if not overlaps:
        raise Retry
    before, after = canvas(SIDE, SIDE), canvas(SIDE, SIDE)
    for dot, filling, (top, left, height, width) in reversed(list(zip(dots, fills, boxes, strict=True))):
        fill(after, top, left, height, width, filling)
        after[top + 1 : top + height : 2, left + 1 : left + width : 2] = dot
        fill(before, top, left, height, width, 0)
        before[top + 1 : top + height : 2, left + 1 : left + width : 2] = dot
    for dot, (top, left, height, width) in zip(dots, boxes, strict=True):
        # What remains visible tells the size of the whole box.
        if not (before == dot).any() or box(before == dot) != (top + 1, left + 1, height - 2, width - 2):
            raise Retry
    before[:count, 0], before[:count, 1] = dots, fills
    return before, after


def verify(grid: Grid) -> Grid:
    field = grid.copy()
    key: list[tuple[int, int]] = []
    while field[len(key), 0] and field[len(key), 1]:
        key.append((int(field[len(key), 0]), int(field[len(key), 1])))
    field[: len(key), :2] = 0
    output = canvas(*grid.shape)
    for dot, filling in reversed(key):
        top, left, height, width = box(field == dot)
        fill(output, top - 1, left - 1, height + 2, width + 2, filling)
        output[top : top + height : 2, left : left + width : 2] = dot
    return output
