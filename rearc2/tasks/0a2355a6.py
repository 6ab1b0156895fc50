"""Each sky-blue figure takes a colour that tells how many holes it has: one blue, two green, three red, four yellow."""

from random import Random

from rearc2.helpers import (
    Grid,
    Mask,
    Retry,
    canvas,
    crop,
    frame,
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
    wall, inside = canvas(ROOM, ROOM), canvas(ROOM, ROOM)
    for number in range(count):
        for _ in range(50):
            height, width = rng.choice([3, 3, 3, 3, 4, 5]), rng.choice([3, 3, 3, 3, 4, 5, 6])
            top, left = ROOM // 2 + rng.randint(-7, 7), ROOM // 2 + rng.randint(-7, 7)
            rim, room = canvas(ROOM, ROOM), canvas(ROOM, ROOM)
            room[top + 1 : top + height - 1, left + 1 : left + width - 1] = 1
            frame(rim, top, left, height, width, 1)
            if (
                not (rim & inside).any()
                and not (room & wall).any()
                and (number == 0 or (rim & wall).sum() >= 2)
            ):
                wall, inside = wall | rim, inside | room
                break
        else:
            raise Retry
    figure = crop(wall) > 0
    # No holes by accident between the frames, and no two that meet in a corner.
    if label(holes(figure), diagonal=True)[1] != count or label(holes(figure), diagonal=False)[1] != count:
        raise Retry
    return figure


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for thing in objects(grid):
        _, count = label(holes(thing.mask))
        output[thing.slices][thing.mask] = COLOR[count]
    return output
