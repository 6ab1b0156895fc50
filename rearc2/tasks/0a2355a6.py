"""Each sky-blue figure takes a colour that tells how many holes it has: one blue, two green, three red, four yellow."""

from random import Random

import numpy as np

from rearc2.helpers import (
    Grid,
    Mask,
    Retry,
    canvas,
    crop,
    holes,
    label,
    objects,
    paint,
    place,
    retrying,
)

FIGURE = 8
COLOR = {1: 1, 2: 3, 3: 2, 4: 4}  # holes -> colour
ROOM = 30


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.choice([(9, 11)] + 2 * [(rng.randint(9, 20), rng.randint(11, 20))])
    most = max(3, height * width // 42)
    counts = [rng.choice([1, 1, 1, 2, 2, 3, 4]) for _ in range(rng.randint(3, most))]
    if len(set(counts)) == 1:
        raise Retry
    figures = [retrying(lambda count=count: _figure(rng, count)) for count in counts]
    before, after = canvas(height, width), canvas(height, width)
    for count, figure, (top, left) in zip(
        counts, figures, place(rng, (height, width), [f.shape for f in figures]), strict=True
    ):
        paint(before, figure, top, left, FIGURE)
        paint(after, figure, top, left, COLOR[count])
    return before, after


def _figure(rng: Random, count: int) -> Mask:
    """`count` frames; each but the first shares some wall with those before it and leaves their insides free."""
    wall, inside = 0, 0  # sets of cells: one bit for each
    for number in range(count):
        for _ in range(50):
            height, width = rng.choice([3, 3, 3, 3, 4, 5]), rng.choice([3, 3, 3, 3, 4, 5, 6])
            top, left = ROOM // 2 + rng.randint(-7, 7), ROOM // 2 + rng.randint(-7, 7)
            room = _block(top + 1, left + 1, height - 2, width - 2)
            rim = _block(top, left, height, width) & ~room
            if not rim & inside and not room & wall and (number == 0 or (rim & wall).bit_count() >= 2):
                wall, inside = wall | rim, inside | room
                break
        else:
            raise Retry
    # No holes by accident between the frames, and no two that meet in a corner.
    free = (1 << ROOM * ROOM) - 1 & ~wall
    holes = free & ~_flood(1, free, diagonal=False)
    if _count(holes, diagonal=True) != count or _count(holes, diagonal=False) != count:
        raise Retry
    cells = [wall >> place & 1 for place in range(ROOM * ROOM)]
    return crop(np.array(cells).reshape(ROOM, ROOM)) > 0


def _block(top: int, left: int, height: int, width: int) -> int:
    return sum(((1 << width) - 1) << row * ROOM + left for row in range(top, top + height))


def _flood(seen: int, free: int, diagonal: bool) -> int:
    """The free cells that can be reached; the figure keeps off the room's border."""
    while True:
        across = seen | seen << 1 | seen >> 1
        tall = across if diagonal else seen
        more = (across | tall << ROOM | tall >> ROOM) & free
        if more == seen:
            return seen
        seen = more


def _count(cells: int, diagonal: bool) -> int:
    """How many connected parts there are."""
    count = 0
    while cells:
        count += 1
        cells &= ~_flood(cells & -cells, cells, diagonal)
    return count


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for thing in objects(grid):
        _, count = label(holes(thing.mask))
        output[thing.slices][thing.mask] = COLOR[count]
    return output
