"""The green rectangle that holds the fewest maroon cells disappears."""

from random import Random

from rearc2.helpers import Grid, Retry, background, canvas, fill, objects, place

GREEN, MAROON = 3, 9
SIDE = 15


def generate(rng: Random) -> tuple[Grid, Grid]:
    sizes = [(rng.randint(2, 7), rng.randint(2, 7)) for _ in range(rng.randint(4, 7))]
    before = canvas(SIDE, SIDE)
    places = place(rng, before.shape, sizes)
    fewest = rng.randint(1, 4)
    counts = [fewest] + [fewest + rng.randint(1, 5) for _ in sizes[1:]]
    for count, (top, left), (height, width) in zip(counts, places, sizes, strict=True):
        if count > height * width // 2:
            raise Retry
        fill(before, top, left, height, width, GREEN)
        for cell in rng.sample(range(height * width), count):
            before[top + cell // width, left + cell % width] = MAROON
    after = before.copy()
    fill(after, *places[0], *sizes[0], 0)
    if background(after) != 0:
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    poorest = min(
        objects(grid, diagonal=False, same_color=False), key=lambda thing: int((thing.patch == MAROON).sum())
    )
    output = grid.copy()
    output[poorest.slices] = 0
    return output
