"""Stripes on the left list colours, and the sky blue boxes take them in order from left to right. No two boxes share a
column. The stripes disappear."""

from random import Random

from rearc2.helpers import Grid, Retry, canvas, colors, fill

BOX = 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    count, height = rng.randint(2, 7), rng.randint(5, 9)
    stripes = colors(rng, count, without=(0, BOX))
    left = 2 * count + rng.choice([1, 1, 2])
    boxes: list[tuple[int, int, int, int]] = []
    for _ in stripes:
        box_height, width = rng.randint(2, min(5, height - 1)), rng.randint(2, 4 if count < 5 else 3)
        top = rng.randint(0, height - box_height)
        if boxes and rng.random() < 0.4:
            left += rng.randint(1, 2)
        elif boxes and boxes[-1][0] == top and boxes[-1][2] == box_height:
            raise Retry  # two such boxes would look like one
        boxes.append((top, left, box_height, width))
        left += width
    if left > 30:
        raise Retry
    before = canvas(height, min(30, left + rng.randint(0, 2)))
    after = before.copy()
    for number, (box, color) in enumerate(zip(boxes, stripes, strict=True)):
        before[:, 2 * number + 1] = color
        fill(before, *box, BOX)
        fill(after, *box, color)
    return before, after


def verify(grid: Grid) -> Grid:
    stripes = [color for color in grid[0].tolist() if color not in (0, BOX)]
    boxes = grid == BOX
    output = canvas(*grid.shape)
    number = -1
    for c in range(1, grid.shape[1]):
        if boxes[:, c].any():
            number += (boxes[:, c] != boxes[:, c - 1]).any()
            output[boxes[:, c], c] = stripes[number]
    return output
