"""Every row has one main colour, yellow, pink or sky blue: its cells become black, and all other cells of the row take
the main colour."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, random_cells

MAIN = (4, 6, 8)
NOISE = (1, 2, 3, 5, 7, 9)
WIDTH = 10


def generate(rng: Random) -> tuple[Grid, Grid]:
    before, after = canvas(3, WIDTH), canvas(3, WIDTH)
    order = rng.sample(MAIN, 3)
    noisy = rng.random() < 0.75
    noise = rng.sample(NOISE, rng.choice([1, 1, 2]))
    for row, color in enumerate(order):
        set_cells = _pattern(rng)
        palette = [0, 0, noise[0], noise[-1]] if noisy else [0]
        rest = random_cells(rng, (1, WIDTH), palette)[0]
        # No disturbing colour outnumbers the main one.
        if np.bincount(rest[~set_cells], minlength=10)[1:].max() > set_cells.sum():
            raise Retry
        before[row] = np.where(set_cells, color, rest)
        after[row] = np.where(set_cells, 0, color)
    return before, after


def _pattern(rng: Random) -> np.ndarray:
    """Which cells of a row are set: one run, two runs at the ends, or every other cell."""
    cells = np.zeros(WIDTH, bool)
    kind = rng.choice(["run", "run", "ends", "comb"])
    if kind == "comb":
        cells[rng.randrange(2) :: 2] = True
    elif kind == "ends":
        left, right = rng.randint(1, 4), rng.randint(1, 4)
        cells[:left] = cells[WIDTH - right :] = True
    else:
        length = rng.randint(3, 8)
        start = rng.choice([0, WIDTH - length, rng.randint(0, WIDTH - length)])
        cells[start : start + length] = True
    return cells


def verify(grid: Grid) -> Grid:
    main = np.where(np.isin(grid, MAIN), grid, 0).max(axis=1, keepdims=True)
    return np.where(grid == main, 0, main)
