"""Three grey dots are corners of a square; the fourth dot lies diagonally inside the corner that is missing. The right
triangle between the missing corner and its two neighbour corners is outlined in sky blue."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, line, mostly

DOT, OUTLINE, GROUND = 5, 8, 7


def generate(rng: Random) -> tuple[Grid, Grid]:
    # All official grids are 8x8, but in those only 220 pairs exist.
    side = mostly(rng, 6, 9, 18)
    reach = rng.randint(3, side - 1)  # from corner to corner
    before = canvas(side, side, GROUND)
    top, left = rng.randint(0, side - 1 - reach), rng.randint(0, side - 1 - reach)
    corners = [(top, left), (top, left + reach), (top + reach, left + reach), (top + reach, left)]
    turn = rng.randrange(4)
    missing, beside, opposite, across = corners[turn:] + corners[:turn]
    mark = tuple(a + (1 if b > a else -1) for a, b in zip(missing, opposite, strict=True))
    after = before.copy()
    for start, end in ((missing, beside), (missing, across), (beside, across)):
        line(after, start, end, OUTLINE)
    for dot in (beside, opposite, across, mark):
        before[dot] = after[dot] = DOT
    return before, after


def verify(grid: Grid) -> Grid:
    dots = [(int(r), int(c)) for r, c in np.argwhere(grid == DOT)]
    output = grid.copy()
    for corner in dots:
        # The corner opposite to the missing one shares its row with one dot and its column with another.
        beside = [dot for dot in dots if dot != corner and dot[0] == corner[0]]
        below = [dot for dot in dots if dot != corner and dot[1] == corner[1]]
        for _, column in beside:
            for row, _ in below:
                missing = row, column
                inner = row + np.sign(corner[0] - row), column + np.sign(corner[1] - column)
                if abs(row - corner[0]) == abs(column - corner[1]) and inner in dots:
                    line(output, missing, (corner[0], column), OUTLINE)
                    line(output, missing, (row, corner[1]), OUTLINE)
                    line(output, (corner[0], column), (row, corner[1]), OUTLINE)
    output[grid == DOT] = DOT
    return output
