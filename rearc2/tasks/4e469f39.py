"""Every grey jar is filled with red up to its mouth, and the red runs from above the mouth over the lid to the border
of the grid."""

from random import Random

from rearc2.helpers import Grid, Retry, canvas, fill, frame, holes, objects, place, retrying

GREY, RED = 5, 2
SIDE = 10


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(1, 2)
    return retrying(lambda: _draw(rng, count))


def _draw(rng: Random, count: int) -> tuple[Grid, Grid]:
    sizes = [(rng.randint(3, 6), rng.choice((4, 4, 5, 6))) for _ in range(count)]
    before, after = canvas(SIDE, SIDE), canvas(SIDE, SIDE)
    overflows = []
    for (height, width), (top, left) in zip(sizes, place(rng, before.shape, sizes), strict=True):
        mouth = rng.choice((left + 1, left + width - 2))
        for grid in (before, after):
            frame(grid, top, left, height, width, GREY)
            grid[top, mouth] = 0
        fill(after, top + 1, left + 1, height - 2, width - 2, RED)
        after[top, mouth] = RED
        overflows.append((top - 1, slice(mouth, SIDE) if mouth == left + 1 else slice(0, mouth + 1)))
    for row, columns in overflows:
        if row < 0 or after[row, columns].any():
            raise Retry
        after[row, columns] = RED
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for jar in objects(grid):
        closed = jar.mask.copy()
        mouth = int((~closed[0]).argmax())
        closed[0] = True
        output[jar.slices][holes(closed)] = RED
        output[jar.top, jar.left + mouth] = RED
        above = output[jar.top - 1]
        if mouth < jar.width / 2:
            above[jar.left + mouth :] = RED
        else:
            above[: jar.left + mouth + 1] = RED
    return output
