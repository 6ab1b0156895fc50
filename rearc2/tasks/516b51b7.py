"""Every blue rectangle becomes rings: from the outside in they are blue, red, green and red."""

from random import Random

from rearc2.helpers import Grid, Retry, canvas, fill, objects, place

BLUE = 1
RINGS = [1, 2, 3, 2]


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(11, 24), rng.randint(11, 24)
    count = rng.randint(1, height * width // 70)
    sizes = [(rng.randint(3, 8), rng.randint(3, 11)) for _ in range(count)]
    if rng.random() < 0.5:
        sizes = [(wide, tall) for tall, wide in sizes]
    if max(min(size) for size in sizes) < 5:
        raise Retry  # nothing would be green
    before, after = canvas(height, width), canvas(height, width)
    for (tall, wide), (top, left) in zip(sizes, place(rng, before.shape, sizes), strict=True):
        fill(before, top, left, tall, wide, BLUE)
        for depth, color in enumerate(RINGS):
            if 2 * depth < min(tall, wide):
                fill(after, top + depth, left + depth, tall - 2 * depth, wide - 2 * depth, color)
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for block in objects(grid):
        for row, column in block.cells:
            depth = min(row - block.top, block.bottom - row, column - block.left, block.right - column)
            output[row, column] = RINGS[depth]
    return output
