"""Each bar casts its colour straight to the grey wall; where two meet, the one of the bar nearer to the wall lies on
top."""

from random import Random

import numpy as np

from rearc2.helpers import SIDES, Grid, Retry, canvas, colors, to_top, undo_to_top

GREY = 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    """Drawn with the wall at the top, then turned."""
    height, width = rng.randint(13, 24), rng.randint(13, 24)
    count = rng.randint(3, 5)
    before, after = canvas(height, width), canvas(height, width)
    overlap = False
    rows = sorted(
        rng.sample(range(3, height - 1), count), reverse=True
    )  # far bars first, near ones over them
    for row, color in zip(rows, colors(rng, count, without=(0, GREY)), strict=True):
        length = rng.randint(2, width // 2)
        left = rng.randint(0, width - length)
        before[row, left : left + length] = color
        overlap |= bool(after[row, left : left + length].any())
        after[1 : row + 1, left : left + length] = color
    if not overlap:
        raise Retry
    before[0] = after[0] = GREY
    side = rng.choice(SIDES)
    return undo_to_top(before, side), undo_to_top(after, side)


def verify(grid: Grid) -> Grid:
    (side,) = [side for side in SIDES if (to_top(grid, side)[0] == GREY).all()]
    output = to_top(grid, side).copy()
    for row in range(len(output) - 2, 0, -1):  # each row takes what comes from the row behind it
        output[row] = np.where(output[row] == 0, output[row + 1], output[row])
    return undo_to_top(output, side)
