"""Every green flower sends rays of its centre's colour along its row and column, up to a petal or the border; a flower
with an empty centre sends empty rays. Upright rays lie over level ones."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, place

PETAL = 3


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(10, 30)
    bright, empty = rng.randint(1, min(4, 1 + side // 5)), rng.choice([0, 1, 1, 1])
    empty = empty or int(bright == 1)
    centres = [*colors(rng, bright, without=(0, PETAL)), *[0] * empty]
    boxes = place(rng, (side, side), [(3, 3)] * len(centres))
    flowers = [(top + 1, left + 1, color) for (top, left), color in zip(boxes, centres, strict=True)]
    # Two flowers in one line would both claim the cells between them.
    if any(len({flower[axis] for flower in flowers}) < len(flowers) for axis in (0, 1)):
        raise Retry
    before = canvas(side, side)
    for row, column, color in flowers:
        before[[row - 1, row + 1, row, row], [column, column, column - 1, column + 1]] = PETAL
        before[row, column] = color
    after = before.copy()
    petals = before == PETAL
    for upright in (False, True):
        for row, column, color in flowers:
            wall, picture = (petals.T, after.T) if upright else (petals, after)
            if upright:
                row, column = column, row
            stops = np.flatnonzero(wall[row])
            first = max([c for c in stops if c < column - 1], default=-1)
            last = min([c for c in stops if c > column + 1], default=side)
            picture[row, first + 1 : last] = color
    after[petals] = PETAL
    return before, after


def verify(grid: Grid) -> Grid:
    height, width = grid.shape
    petal = np.pad(grid == PETAL, 1)
    centres = np.argwhere(petal[:-2, 1:-1] & petal[2:, 1:-1] & petal[1:-1, :-2] & petal[1:-1, 2:]).tolist()
    output = grid.copy()
    for steps in (((0, -1), (0, 1)), ((-1, 0), (1, 0))):
        for row, column in centres:
            for down, right in steps:
                r, c = row + 2 * down, column + 2 * right  # behind its own petal
                while 0 <= r < height and 0 <= c < width and grid[r, c] != PETAL:
                    output[r, c] = grid[row, column]
                    r, c = r + down, c + right
    return output
