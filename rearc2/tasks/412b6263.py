"""The picture is turned a quarter counterclockwise and put down twice, one below the other, in a blue frame with a blue
line between them; the frame's corners and the line's ends stay free."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, fill, frame

GROUND, BLOCK, DOT, FRAME = 7, 5, 9, 1


def generate(rng: Random) -> tuple[Grid, Grid]:
    tall, wide = rng.randint(2, 6), rng.randint(2, 6)
    down, right = rng.randint(1, tall + 4), rng.randint(1, wide + 4)
    height, width = tall + down, wide + right
    # The two blocks do not touch, and both turned pictures fit into 30 rows.
    if (down <= tall and right <= wide) or 2 * width + 3 > 30:
        raise Retry
    before = canvas(height, width, GROUND)
    dot = rng.randrange(tall), rng.randrange(wide)
    for top, left in ((0, 0), (down, right)):
        fill(before, top, left, tall, wide, BLOCK)
        before[top + dot[0], left + dot[1]] = DOT
    after = canvas(2 * width + 3, height + 2, GROUND)
    for top in (0, width + 1):
        frame(after, top, 0, width + 2, height + 2, FRAME)
        for row in range(height):
            for column in range(width):
                after[top + width - column, 1 + row] = before[row, column]
    for row in (0, width + 1, -1):
        after[row, 0] = after[row, -1] = GROUND
    return before, after


def verify(grid: Grid) -> Grid:
    picture = np.pad(np.rot90(grid), 1, constant_values=FRAME)
    picture[[0, 0, -1, -1], [0, -1, 0, -1]] = GROUND
    return np.vstack([picture, picture[1:]])
