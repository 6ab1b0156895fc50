"""Each coloured dot at the top grows into a bar as long as the number of things of its colour in the field below (and
goes if there are none). Things of colours without a dot are wiped out."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, objects, place

SHAPE, FIELD_TOP = (20, 10), 7
DOT_ROWS = (1, 3, 5)
SIZES = ((1, 2), (2, 1), (2, 2), (2, 2), (1, 3), (3, 1), (1, 4), (4, 1))


def generate(rng: Random) -> tuple[Grid, Grid]:
    field, *palette = colors(rng, 4 + rng.randint(1, 2), without=(0, 9))
    dots, strangers = palette[:3], palette[3:]
    counts = [rng.randint(0, 5) for _ in dots]
    if not 4 <= sum(counts) <= 9:
        raise Retry
    before, after = canvas(*SHAPE), canvas(*SHAPE)
    before[FIELD_TOP:] = after[FIELD_TOP:] = field
    for row, color, count in zip(DOT_ROWS, dots, counts, strict=True):
        before[row, 0] = color
        after[row, :count] = color
    things = [color for color, count in zip(dots, counts, strict=True) for _ in range(count)]
    things += [color for color in strangers for _ in range(rng.randint(1, 2))]
    sizes = [rng.choice(SIZES) for _ in things]
    places = place(rng, (SHAPE[0] - FIELD_TOP, SHAPE[1]), sizes, margin=1)
    for color, (height, width), (top, left) in zip(things, sizes, places, strict=True):
        thing = np.full((height, width), color)
        if (height, width) == (2, 2) and rng.random() < 0.25:
            thing[rng.randrange(2), rng.randrange(2)] = field
        area = np.s_[FIELD_TOP + top : FIELD_TOP + top + height, left : left + width]
        before[area] = thing
        if color in dots:
            after[area] = thing
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    field = grid[FIELD_TOP, 0]
    below = objects(grid[FIELD_TOP:], background=int(field))
    dots = {}
    for row in range(FIELD_TOP):
        if grid[row, 0]:
            dots[int(grid[row, 0])] = row
            output[row] = 0
    for thing in below:
        if thing.color in dots:
            row = dots[thing.color]
            output[row, np.count_nonzero(output[row])] = thing.color
        else:
            output[FIELD_TOP:][thing.slices][thing.mask] = field
    return output
