"""From every green block two flights of stairs go down, one to the left and one to the right: copies of the block, each
set corner to corner with the one above, until they leave the grid."""

from random import Random

from rearc2.helpers import Grid, canvas, fill, objects, paint, place

GREEN = 3


def generate(rng: Random) -> tuple[Grid, Grid]:
    shape = (
        rng.choice([22, 24, 25, 26, 27, 28, 29, 29, 30, 30]),
        rng.choice([22, 24, 26, 27, 28, 29, 29, 30, 30]),
    )
    count = rng.randint(1, 4)
    sizes = [rng.choice([(2, 2), (2, 3), (2, 4), (2, 5), (3, 2), (3, 3), (4, 2)]) for _ in range(count)]
    # The blocks stay off the border, and leave room for a step or two below.
    places = place(rng, (shape[0] - 8, shape[1] - 6), sizes, gap=2)
    before, after = canvas(*shape), canvas(*shape)
    for (height, width), (top, left) in zip(sizes, places, strict=True):
        top, left = top + 3, left + 3
        fill(before, top, left, height, width, GREEN)
        for step in range(30):
            for side in (-1, 1):
                fill(after, top + step * height, left + side * step * width, height, width, GREEN)
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for block in objects(grid):
        for step in range(1, grid.shape[0]):
            for shift in (-step * block.width, step * block.width):
                paint(output, block.mask, block.top + step * block.height, block.left + shift, GREEN)
    return output
