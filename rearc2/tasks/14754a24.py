"""In noise of grey and black hide plus signs, partly yellow, else grey (the border may cut off an arm): their grey cells
turn red."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, canvas, place, random_cells

YELLOW, GREY, RED = 4, 5, 2
PLUS = ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(10, 24), rng.randint(10, 24)
    count = rng.randint(3, 3 + height * width // 70)
    # A margin of one cell around the grid is cut off in the end, and with it the arms of signs placed there.
    signs = place(rng, (height + 2, width + 2), [(3, 3)] * count)
    signs = [(top, left) for top, left in signs if 0 < top < height - 1 or 0 < left < width - 1]
    after = random_cells(rng, (height, width), [0, GREY])
    part_of_sign = np.zeros(after.shape, bool)
    for row, column in signs:
        cells = [(r, c) for r, c in _plus(row, column) if 0 <= r < height and 0 <= c < width]
        yellow = rng.sample(cells, rng.randint(2, len(cells) - 1))
        for cell in cells:
            after[cell] = YELLOW if cell in yellow else RED
            part_of_sign[cell] = True
    _spoil(rng, after, part_of_sign, {sign for sign in signs})
    return np.where(after == RED, GREY, after), after


def _plus(row: int, column: int) -> list[tuple[int, int]]:
    return [(row + down, column + right) for down, right in PLUS]


def _spoil(rng: Random, grid: Grid, part_of_sign: Mask, signs: set[tuple[int, int]]) -> None:
    """Breaks what looks like a sign with two yellow cells but was not drawn as one."""
    height, width = grid.shape
    for row in range(height):
        for column in range(width):
            cells = [(r, c) for r, c in _plus(row, column) if 0 <= r < height and 0 <= c < width]
            values = [int(grid[cell]) for cell in cells]
            if (row, column) in signs or 0 in values or values.count(YELLOW) < 2:
                continue
            loose = [cell for cell in cells if not part_of_sign[cell]]
            grid[rng.choice(loose)] = 0


def verify(grid: Grid) -> Grid:
    # What lies outside the grid may be anything: it passes for grey.
    height, width = grid.shape
    padded = canvas(height + 2, width + 2, GREY)
    padded[1:-1, 1:-1] = grid
    layers = np.stack([padded[1 + d : 1 + d + height, 1 + r : 1 + r + width] for d, r in PLUS])
    signs = (layers != 0).all(axis=0) & ((layers == YELLOW).sum(axis=0) >= 2)
    covered = np.zeros(padded.shape, bool)
    for down, right in PLUS:
        covered[1 + down : 1 + down + height, 1 + right : 1 + right + width] |= signs
    return np.where(covered[1:-1, 1:-1] & (grid == GREY), RED, grid)
