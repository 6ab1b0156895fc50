"""The output is the one panel whose coloured cells all have the same colour."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, join, scatter, split


def generate(rng: Random) -> tuple[Grid, Grid]:
    size = rng.randint(3, 5)
    count = rng.randint(max(3, 7 - size), 31 // (size + 1))
    (line,) = colors(rng, 1)
    (color,) = colors(rng, 1, without=(0, line))
    special = rng.randrange(count), rng.randrange(count)
    density = rng.uniform(0.15, 0.35)
    panels = [[_panel(rng, size, rng.uniform(0.12, 0.35)) for _ in range(count)] for _ in range(count)]
    chosen = np.where(scatter(rng, (size, size), density), color, 0)
    if (chosen > 0).sum() < 3:
        raise Retry
    panels[special[0]][special[1]] = chosen
    return join(panels, line), chosen


def _panel(rng: Random, size: int, density: float) -> Grid:
    """Cells of two colours or more."""
    panel = canvas(size, size)
    while len(np.unique(panel)) < 3:
        places = np.argwhere(scatter(rng, (size, size), density))
        panel[...] = 0
        for row, column in places:
            panel[row, column] = rng.randint(1, 9)
    return panel


def verify(grid: Grid) -> Grid:
    rows = [row for row in range(grid.shape[0]) if grid[row, 0] and (grid[row] == grid[row, 0]).all()]
    panels = [panel for band in split(grid, int(grid[rows[0], 0])) for panel in band]
    (chosen,) = [panel for panel in panels if len(np.unique(panel[panel > 0])) == 1]
    return chosen.copy()
