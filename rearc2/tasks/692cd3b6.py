"""Yellow pours out of the openings of the two red boxes and fills the rectangle between the cells before the openings,
except the strip behind each box."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, fill, frame

SIDE, BOX, CENTRE, POURED = 15, 2, 5, 4
STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))


def generate(rng: Random) -> tuple[Grid, Grid]:
    top, other_top = rng.randint(0, 7), rng.randint(6, SIDE - 3)
    left, other_left = rng.randint(0, 7), rng.randint(6, SIDE - 3)
    if other_top < top + 5 or other_left < left + 5:
        raise Retry
    corners = [(top, left), (other_top, other_left)]
    if rng.random() < 0.5:
        corners = [(top, other_left), (other_top, left)]
    openings = rng.choice(STEPS), rng.choice(STEPS)
    ends = [
        (r + 1 + 2 * down, c + 1 + 2 * right) for (r, c), (down, right) in zip(corners, openings, strict=True)
    ]
    if min(map(min, ends)) < 0 or max(map(max, ends)) >= SIDE:
        raise Retry
    before, after = canvas(SIDE, SIDE), canvas(SIDE, SIDE)
    (row, column), (end_row, end_column) = ends
    fill(after, row, min(column, end_column), end_row - row + 1, abs(column - end_column) + 1, POURED)
    for (box_top, box_left), (down, right) in zip(corners, openings, strict=True):
        # From the box back to the border nothing is poured.
        rows = (
            slice(box_top, box_top + 3) if right else slice(box_top, None) if down < 0 else slice(box_top + 3)
        )
        columns = (
            slice(box_left, box_left + 3)
            if down
            else slice(box_left, None)
            if right < 0
            else slice(box_left + 3)
        )
        after[rows, columns] = 0
        for grid, opening in ((before, 0), (after, POURED)):
            frame(grid, box_top, box_left, 3, 3, BOX)
            grid[box_top + 1, box_left + 1] = CENTRE
            grid[box_top + 1 + down, box_left + 1 + right] = opening
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    ends, behind = [], np.zeros(grid.shape, bool)
    for row, column in np.argwhere(grid == CENTRE).tolist():
        ((down, right),) = [(a, b) for a, b in STEPS if grid[row + a, column + b] != BOX]
        output[row + down, column + right] = POURED
        ends.append((row + 2 * down, column + 2 * right))
        for place in np.ndindex(*grid.shape):
            ahead = (place[0] - row) * down + (place[1] - column) * right
            aside = abs((place[0] - row) * right) + abs((place[1] - column) * down)
            behind[place] |= ahead < 2 and aside < 2
    rows, columns = zip(*ends, strict=True)
    between = np.zeros(grid.shape, bool)
    between[min(rows) : max(rows) + 1, min(columns) : max(columns) + 1] = True
    output[between & ~behind & (grid == 0)] = POURED
    return output
