"""In every ring of 3x3 cells the corners move on by one corner counterclockwise, and the cells between them by one side
clockwise."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, objects, random_cells

BACKGROUND = 7
CORNERS = [(0, 0), (0, 2), (2, 2), (2, 0)]  # clockwise
MIDDLES = [(0, 1), (1, 2), (2, 1), (1, 0)]


def generate(rng: Random) -> tuple[Grid, Grid]:
    before, after = canvas(7, 7, BACKGROUND), canvas(7, 7, BACKGROUND)
    first = rng.randint(0, 4), rng.randint(0, 4)
    rings = [first]
    if rng.random() < 0.75:
        apart = [(top, left) for top in range(5) for left in range(5) if _apart(first, (top, left))]
        rings += [rng.choice(apart)] if apart else []
    for top, left in rings:
        ring = random_cells(
            rng, (3, 3), colors(rng, rng.choice([3, 4, 5, 6, 7, 9, 9]), without=(BACKGROUND,))
        )
        ring[1, 1] = BACKGROUND
        turned = ring.copy()
        for number in range(4):
            turned[CORNERS[number - 1]] = ring[CORNERS[number]]
            turned[MIDDLES[number]] = ring[MIDDLES[number - 1]]
        if (turned != ring).sum() < 4:
            raise Retry
        before[top : top + 3, left : left + 3] = ring
        after[top : top + 3, left : left + 3] = turned
    return before, after


def _apart(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether rings there do not overlap nor touch along a side; they may touch in a corner."""
    down, right = abs(one[0] - other[0]), abs(one[1] - other[1])
    return max(down, right) > 3 or (down, right) == (3, 3)


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    even = np.add.outer(np.arange(3), np.arange(3)) % 2 == 0
    for ring in objects(grid, background=BACKGROUND, diagonal=False, same_color=False):
        cells = grid[ring.slices]
        output[ring.slices] = np.where(even, np.rot90(cells), np.rot90(cells, -1))
    return output
