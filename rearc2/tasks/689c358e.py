"""Four crosses, each with one long arm, lie in a frame. In line with the long arm, each turns two cells of the frame:
the one on the far side from the long arm to its own colour, the one that the arm points at to black."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, frame, retrying

SIDE, FRAME, GROUND, TAIL = 11, 6, 7, 0
SHADES = (2, 5, 8, 9)
STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))


def generate(rng: Random) -> tuple[Grid, Grid]:
    return retrying(lambda: _draw(rng))  # four crosses seldom fit at once


def _draw(rng: Random) -> tuple[Grid, Grid]:
    before = canvas(SIDE, SIDE, GROUND)
    frame(before, 0, 0, SIDE, SIDE, FRAME)
    after = before.copy()
    for shade in rng.sample(SHADES, len(SHADES)):
        row, column = rng.randint(2, SIDE - 3), rng.randint(2, SIDE - 3)
        down, right = rng.choice(STEPS)
        cross = [(row + a, column + b) for a, b in (*STEPS, (0, 0), (2 * down, 2 * right))]
        head = (
            row if right else (SIDE - 1 if down < 0 else 0),
            column if down else (SIDE - 1 if right < 0 else 0),
        )
        tail = row if right else SIDE - 1 - head[0], column if down else SIDE - 1 - head[1]
        if any(before[cell] != GROUND for cell in cross) or after[head] != FRAME or after[tail] != FRAME:
            raise Retry
        for cell in cross:
            before[cell] = after[cell] = shade
        after[head], after[tail] = shade, TAIL
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for shade in SHADES:
        rows, columns = np.nonzero(grid == shade)
        upright = np.ptp(rows) > np.ptp(columns)
        # The arms beside the long one are in the row or column of the centre, which holds three cells.
        row, column = int(np.bincount(rows).argmax()), int(np.bincount(columns).argmax())
        if upright:
            downward = row - rows.min() < rows.max() - row
            output[(0, -1), column] = (shade, TAIL) if downward else (TAIL, shade)
        else:
            rightward = column - columns.min() < columns.max() - column
            output[row, (0, -1)] = (shade, TAIL) if rightward else (TAIL, shade)
    return output
