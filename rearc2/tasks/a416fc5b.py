"""In a 3x3 board one red plus is in the middle and one beside it: a grey plus is added three steps clockwise around the
rim from the outer red one, and a sky blue one three steps counterclockwise. A board that has all of them already turns
into a plain orange square."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, join, split

GROUND, LINES = 7, 6
RED, GREY, SKY = 2, 5, 8
RIM = [(0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (2, 1), (2, 0), (1, 0)]  # clockwise
BLANK = 16  # side of the plain square
CAP = 6  # 8 places for the outer red plus and 2 complete boards, less the four official boards


def generate(rng: Random) -> tuple[Grid, Grid]:
    outer = rng.randrange(8)
    start = {(1, 1): RED, RIM[outer]: RED}
    end = {**start, RIM[(outer + 3) % 8]: GREY, RIM[(outer - 3) % 8]: SKY}
    # Officially one board of four is complete, so most of these are left out.
    if outer % 4 == 0 and rng.random() < 0.5:
        return _board(end), canvas(BLANK, BLANK, GROUND)
    return _board(start), _board(end)


def _board(signs: dict[tuple[int, int], int]) -> Grid:
    panels = [[canvas(3, 3, GROUND) for _ in range(3)] for _ in range(3)]
    for (row, column), color in signs.items():
        panels[row][column].ravel()[1::2] = color
    return join(panels, LINES)


def verify(grid: Grid) -> Grid:
    panels = split(grid, LINES)
    if (grid == GREY).any():
        return np.full((BLANK, BLANK), GROUND)
    (outer,) = [number for number, (row, column) in enumerate(RIM) if (panels[row][column] == RED).any()]
    output = grid.copy()
    for step, color in ((3, GREY), (-3, SKY)):
        row, column = RIM[(outer + step) % 8]
        cells = output[4 * row : 4 * row + 3, 4 * column : 4 * column + 3]
        cells[1, :] = cells[:, 1] = color
        cells[1, 1] = GROUND
    return output
