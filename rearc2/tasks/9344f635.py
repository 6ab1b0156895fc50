"""Every domino becomes a full line of its colour, in the direction in which it lies; rows lie over columns."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, fill, objects, place

GROUND = 7


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(6, 14)
    levels, uprights = rng.randint(1, 2 + side // 6), rng.randint(1, 2 + side // 5)
    sizes = [(1, 2)] * levels + [(2, 1)] * uprights
    places = place(rng, (side, side), sizes, gap=0)
    before, after = canvas(side, side, GROUND), canvas(side, side, GROUND)
    # From the last to the first: the columns are drawn before the rows.
    for (height, width), (top, left) in reversed(list(zip(sizes, places, strict=True))):
        color = rng.choice([color for color in range(10) if color != GROUND])
        fill(before, top, left, height, width, color)
        if height == 1:
            after[top] = color
        else:
            after[:, left] = color
    rows, columns = {top for top, _ in places[:levels]}, {left for _, left in places[levels:]}
    apart = len(objects(before, GROUND, diagonal=False)) == len(sizes)
    if not apart or len(rows) < levels or len(columns) < uprights:
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = canvas(*grid.shape, GROUND)
    level = (grid[:, 1:] == grid[:, :-1]) & (grid[:, 1:] != GROUND)
    upright = (grid[1:] == grid[:-1]) & (grid[1:] != GROUND)
    for r, c in np.argwhere(upright):
        output[:, c] = grid[r, c]
    for r, c in np.argwhere(level):
        output[r] = grid[r, c]
    return output
