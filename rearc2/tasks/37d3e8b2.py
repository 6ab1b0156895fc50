"""The number of holes gives a rectangle its colour: 1 blue, 2 red, 3 green, 4 orange."""

from random import Random

from rearc2.helpers import Grid, Mask, Retry, background, canvas, fill, label, objects, paint, place

FIGURE = 8
COLOR = {1: 1, 2: 2, 3: 3, 4: 7}  # number of holes -> colour


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(16, 22), rng.randint(16, 22)
    counts = [rng.randint(1, 4) for _ in range(rng.randint(4, 7))]
    plates = [_plate(rng, count) for count in counts]
    before, after = canvas(height, width), canvas(height, width)
    places = place(rng, before.shape, [plate.shape for plate in plates])
    for count, plate, (top, left) in zip(counts, plates, places, strict=True):
        paint(before, plate, top, left, FIGURE)
        paint(after, plate, top, left, COLOR[count])
    if background(before) != 0:
        raise Retry
    return before, after


def _plate(rng: Random, count: int) -> Mask:
    """A rectangle with so many holes of one to four cells."""
    low = 3 if count == 1 else 4 if count == 2 else 5
    height, width = rng.randint(low, 5 + count), rng.randint(low, 7)
    sizes = [(rng.choice([1, 1, 2]), rng.choice([1, 1, 2])) for _ in range(count)]
    if height == 3 or width == 3:
        sizes = [(1, 1)]
    plate = canvas(height, width, 1)
    for (top, left), size in zip(place(rng, plate.shape, sizes, margin=1), sizes, strict=True):
        fill(plate, top, left, *size, 0)
    return plate > 0


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for thing in objects(grid):
        _, count = label(~thing.mask, diagonal=False)
        paint(output, thing.mask, thing.top, thing.left, COLOR[count])
    return output
