"""Every rectangle gets a yellow core under a border two cells thick, whose quarters are pink, blue, red and green (top
left, top right, bottom left, bottom right)."""

from random import Random

from rearc2.helpers import Grid, canvas, fill, objects, place, retrying

RECTANGLE, CORE = 8, 4
QUARTERS = ((6, 1), (2, 3))
SIDE, BORDER = 23, 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(1, 4)
    before, after = canvas(SIDE, SIDE), canvas(SIDE, SIDE)
    for top, left, height, width in retrying(lambda: _rectangles(rng, count)):
        fill(before, top, left, height, width, RECTANGLE)
        half_height, half_width = height // 2, width // 2
        for down in range(2):
            for right in range(2):
                corner = top + down * half_height, left + right * half_width
                fill(after, *corner, half_height, half_width, QUARTERS[down][right])
        fill(after, top + BORDER, left + BORDER, height - 2 * BORDER, width - 2 * BORDER, CORE)
    return before, after


def _rectangles(rng: Random, count: int) -> list[tuple[int, int, int, int]]:
    sizes = [(2 * rng.randint(3, 7), 2 * rng.randint(3, 7)) for _ in range(count)]
    return [(*corner, *size) for corner, size in zip(place(rng, (SIDE, SIDE), sizes), sizes, strict=True)]


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for thing in objects(grid):
        for row, column in thing.cells:
            from_edge = min(row - thing.top, thing.bottom - row, column - thing.left, thing.right - column)
            lower, righter = 2 * row > thing.top + thing.bottom, 2 * column > thing.left + thing.right
            output[row, column] = CORE if from_edge >= BORDER else QUARTERS[lower][righter]
    return output
