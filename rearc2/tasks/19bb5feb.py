"""The output shows which colour, or none, lies in each quarter of the sky blue rectangle."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors, fill, objects

FIELD = 8
QUARTERS = [(0, 0), (0, 1), (1, 0), (1, 1)]


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(9, 24), rng.randint(9, 24)
    field_height, field_width = rng.randint(8, height - 1), rng.randint(8, width - 1)
    top, left = rng.randint(0, height - field_height), rng.randint(0, width - field_width)
    before, after = canvas(height, width), canvas(2, 2)
    fill(before, top, left, field_height, field_width, FIELD)
    # The blocks stand in two rows and two columns, apart from each other and from the edge.
    rows, columns = (
        (start + rng.randint(1, length // 2 - 3), start + length - 2 - rng.randint(1, length // 2 - 3))
        for start, length in ((top, field_height), (left, field_width))
    )
    used = rng.choice(
        [[0, 3], [1, 2], [0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3]]
    )
    for quarter, color in zip(used, colors(rng, len(used), without=(0, FIELD)), strict=True):
        down, right = QUARTERS[quarter]
        fill(before, rows[down], columns[right], 2, 2, color)
        after[down, right] = color
    return before, after


def verify(grid: Grid) -> Grid:
    field = np.argwhere(grid)
    middle = (field.min(axis=0) + field.max(axis=0)) / 2
    output = canvas(2, 2)
    for block in objects(grid):
        if block.color != FIELD:
            output[int(block.top > middle[0]), int(block.left > middle[1])] = block.color
    return output
