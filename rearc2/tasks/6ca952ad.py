"""Figures of four cells and more fall to the bottom, smaller ones stay."""

from random import Random

from rearc2.helpers import Grid, Retry, canvas, objects, paint, random_shape

GROUND, HEAVY = 7, 4


def generate(rng: Random) -> tuple[Grid, Grid]:
    side, color = rng.randint(6, 22), rng.choice([shade for shade in range(10) if shade != GROUND])
    before, after = canvas(side, side, GROUND), canvas(side, side, GROUND)
    left, kinds = rng.randint(0, 2), set()
    while left < side:
        # No bars of four cells and more: officially they do not occur.
        height, width = rng.randint(2, min(6, side - 2)), rng.randint(2, 4)
        if rng.random() < 0.5:
            height, width = rng.choice([(1, 1), (2, 1), (3, 1), (1, 2), (1, 3), (2, 2)])
        shape = random_shape(rng, height, width, rng.uniform(0.4, 1))
        if left + width > side:
            break
        heavy = int(shape.sum()) >= HEAVY
        kinds.add(heavy)
        top = rng.randint(0, max(1, (side - height) // 2))
        paint(before, shape, top, left, color)
        paint(after, shape, side - height if heavy else top, left, color)
        left += width + rng.randint(1, 3)  # each has columns of its own
    if len(kinds) < 2:
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    heavy = [thing for thing in objects(grid, background=GROUND) if thing.size >= HEAVY]
    for thing in heavy:
        for cell in thing.cells:
            output[cell] = GROUND
    for thing in heavy:
        for row, column in thing.cells:
            output[row + grid.shape[0] - 1 - thing.bottom, column] = thing.color
    return output
