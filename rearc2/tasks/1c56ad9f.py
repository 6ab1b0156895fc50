"""The lattice sways: from its bottom row up, rows are shifted by 0, 1 to the left, 0, 1 to the right, and so on."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, box, canvas, colors, paint


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(12, 20), rng.randint(12, 20)
    across = _bars(rng.randint(1, 3), rng.randint(1, 4), rng.choice([1, 1, 2]))
    along = _bars(rng.randint(1, 4), rng.randint(1, 10), 1)
    lattice = along[:, None] | across[None, :]
    if lattice.shape[0] < 6 or lattice.shape[0] > height - 2 or lattice.shape[1] > width - 4:
        raise Retry
    top = rng.randint(1, height - len(lattice) - 1)
    left = rng.randint(2, width - lattice.shape[1] - 2)
    (color,) = colors(rng, 1)
    before, after = canvas(height, width), canvas(height, width)
    paint(before, lattice, top, left, color)
    for r, row in enumerate(lattice):
        sway = (0, -1, 0, 1)[(len(lattice) - 1 - r) % 4]
        paint(after, row[None], top + r, left + sway, color)
    return before, after


def _bars(count: int, gap: int, thick: int) -> Grid:
    """A line across `count` gaps between bars; the bars between two gaps are `thick`, the ones at the ends 1."""
    period = np.arange(gap + thick) >= gap
    return np.concatenate([[True], np.tile(period, count)])[: 1 + count * (gap + thick) - (thick - 1)]


def verify(grid: Grid) -> Grid:
    top, _, height, _ = box(grid != 0)
    output = grid.copy()
    for above, row in enumerate(range(top + height - 1, top - 1, -1)):
        if above % 2:
            output[row] = np.roll(grid[row], -1 if above % 4 == 1 else 1)
    return output
