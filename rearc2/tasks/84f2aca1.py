"""The inside of every frame is filled: a single cell grey, two cells orange."""

from random import Random

from rearc2.helpers import Grid, canvas, frame, objects, place

FILLING = {1: 5, 2: 7}  # cells inside -> colour
FRAMES = [1, 2, 3, 4, 6, 8, 9]


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(6, 18), rng.randint(6, 18)
    most = max(1, height * width // 30)
    count = max(rng.randint(1, most), rng.randint(1, most))
    sizes = [rng.choice([(3, 3), (3, 4), (4, 3)]) for _ in range(count)]
    before, after = canvas(height, width), canvas(height, width)
    for (tall, wide), (top, left) in zip(sizes, place(rng, before.shape, sizes), strict=True):
        color = rng.choice(FRAMES)
        frame(before, top, left, tall, wide, color)
        after[top : top + tall, left : left + wide] = FILLING[(tall - 2) * (wide - 2)]
        frame(after, top, left, tall, wide, color)
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for thing in objects(grid):
        inside = output[thing.slices]
        inside[~thing.mask] = FILLING[int((~thing.mask).sum())]
    return output
