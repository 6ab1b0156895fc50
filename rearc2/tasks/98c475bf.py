"""Each colour has its own figure, a line from wall to wall with a sign at a fixed place on it. A pair of dots beside
the walls becomes the figure of its colour; the figure that was there disappears."""

from itertools import combinations
from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors

SIDE = 20
# colour -> first column of the sign, rows of it above the line, the sign
SIGNS = {
    1: (14, 1, ("#.#", "###", "#.#")),
    2: (6, 2, ("#.#", ".#.", "###", ".#.", "#.#")),
    3: (4, 2, (".#.", "#.#", "...", "#.#", ".#.")),
    6: (2, 2, ("###", "#.#", "#.#", "#.#", "#.#", "###")),
    7: (13, 2, ("#.#", "#.#", "###", "#.#", "#.#")),
}


def generate(rng: Random) -> tuple[Grid, Grid]:
    (wall,) = colors(rng, 1)
    count = rng.choice([1, 1, 2, 2, 3])
    old, *new = rng.sample([color for color in SIGNS if color != wall], 1 + count)
    before, after = canvas(SIDE, SIDE), canvas(SIDE, SIDE)
    old_row, *new_rows = _rows(rng, count)
    _draw(before, old_row, old)
    for row, color in zip(new_rows, new, strict=True):
        before[row, [1, SIDE - 2]] = color
        _draw(after, row, color)
    for grid in (before, after):
        grid[:, [0, -1]] = wall
    return before, after


def _rows(rng: Random, count: int) -> list[int]:
    """A row for the old figure, and rows for new ones that are far enough apart and from the old line."""
    for _ in range(200):
        old, *new = rng.sample(range(2, SIDE - 3), 1 + count)
        near = [abs(row - old) < 4 for row in new] + [abs(a - b) < 6 for a, b in combinations(new, 2)]
        if not any(near):
            return [old, *new]
    raise Retry


def _draw(grid: Grid, row: int, color: int) -> None:
    left, above, sign = SIGNS[color]
    grid[row] = color
    for r, text in enumerate(sign, row - above):
        for c, cell in enumerate(text, left):
            grid[r, c] = color if cell == "#" else 0


def verify(grid: Grid) -> Grid:
    output = canvas(*grid.shape)
    output[:, [0, -1]] = grid[:, [0, -1]]
    for row in np.flatnonzero((grid[:, 1] != 0) & (grid[:, 2] == 0)):
        color = int(grid[row, 1])
        left, above, sign = SIGNS[color]
        output[row, 1:-1] = color
        patch = np.array([[color * (cell == "#") for cell in text] for text in sign])
        output[row - above : row - above + len(patch), left : left + 3] = patch
    return output
