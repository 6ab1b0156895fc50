"""Every square red frame around a red dot is filled, and its size tells the colour: 5x5 sky blue, 7x7 yellow, 9x9
green."""

from random import Random

from rearc2.helpers import Grid, canvas, fill, frame, objects, place

RED = 2
FILLING = {5: 8, 7: 4, 9: 3}  # side of the frame -> colour


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(7, 24)
    most = 1 + side * side // 110
    count = max(rng.randint(1, most), rng.randint(1, most))
    sizes = [rng.choice([size for size in FILLING if size <= side - 2]) for _ in range(count)]
    before, after = canvas(side, side), canvas(side, side)
    for size, (top, left) in zip(sizes, place(rng, before.shape, [(s, s) for s in sizes]), strict=True):
        fill(after, top, left, size, size, FILLING[size])
        for grid in (before, after):
            frame(grid, top, left, size, size, RED)
            grid[top + size // 2, left + size // 2] = RED
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for thing in objects(grid):
        if thing.size > 1:
            inside = output[thing.slices]
            inside[inside == 0] = FILLING[thing.height]
    return output
