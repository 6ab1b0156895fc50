"""Every red dot on a green rectangle gets a blue ring around it, even where the ring leaves the rectangle or covers
a dot that lies outside; the dots on rectangles stay red."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, box, canvas, fill, frame, label, place, retrying

GREEN, RED, BLUE = 3, 2, 1


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(1, 5)
    return retrying(lambda: _draw(rng, count))


def _draw(rng: Random, count: int) -> tuple[Grid, Grid]:
    rows, columns = rng.randint(10, 24), rng.randint(10, 28)
    if rows * columns < 85 * count:
        raise Retry
    sizes = [(rng.randint(4, 12), rng.randint(4, 12)) for _ in range(count)]
    corners = place(rng, (rows, columns), sizes)
    before = canvas(rows, columns)
    for (height, width), (top, left) in zip(sizes, corners, strict=True):
        fill(before, top, left, height, width, GREEN)
    inside = np.argwhere(before == GREEN).tolist()
    outside = np.argwhere(before == 0).tolist()
    dots = rng.sample(inside, max(2, int(len(inside) * rng.uniform(0.04, 0.1))))
    strays = rng.sample(outside, min(len(outside), rng.randint(2, 4 + rows * columns // 40)))
    for row, column in dots + strays:
        before[row, column] = RED
    # The green that is left must still show each rectangle whole and in one piece.
    numbers, count = label(before == GREEN)
    boxes = sorted(box(numbers == number) for number in range(1, count + 1))
    if boxes != sorted((*corner, *size) for corner, size in zip(corners, sizes, strict=True)):
        raise Retry
    after = before.copy()
    for row, column in dots:
        frame(after, row - 1, column - 1, 3, 3, BLUE)
    for row, column in dots:
        after[row, column] = RED
    return before, after


def verify(grid: Grid) -> Grid:
    on = np.zeros(grid.shape, bool)
    numbers, count = label(grid == GREEN)
    for number in range(1, count + 1):
        top, left, height, width = box(numbers == number)
        on[top : top + height, left : left + width] = True
    dots = on & (grid == RED)
    output = grid.copy()
    for row, column in np.argwhere(dots).tolist():
        output[max(0, row - 1) : row + 2, max(0, column - 1) : column + 2] = BLUE
    output[dots] = RED
    return output
