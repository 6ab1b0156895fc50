"""All panels have the same holes, and in one of them the holes are coloured. The panels stand in the same rows and
columns as the holes: each panel takes the colour of its hole, or has no pattern where there is no hole. Holes and
gaps take the panels' former colour."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, crop, join, random_cells, scatter, split


def generate(rng: Random) -> tuple[Grid, Grid]:
    rows, columns = rng.randint(2, 3), rng.randint(2, 3)
    color, *palette = colors(rng, rng.randint(3, 5))
    holes = scatter(rng, (rows, columns), rng.uniform(0.4, 0.9))
    if holes.all() or holes.sum() < 3:
        raise Retry
    paints = random_cells(rng, (rows, columns), palette)
    pierced = np.zeros((2 * rows + 1, 2 * columns + 1), bool)
    pierced[1::2, 1::2] = holes

    plain = np.where(pierced, 0, color)
    signed = plain.copy()
    signed[1::2, 1::2][holes] = paints[holes]
    before = [[plain] * columns for _ in range(rows)]
    before[rng.randrange(rows)][rng.randrange(columns)] = signed
    after = [
        [np.where(pierced | ~holes[i, j], color, paints[i, j]) for j in range(columns)] for i in range(rows)
    ]
    panels = join(before, 0)
    height, width = panels.shape
    top, left = rng.randint(1, 2), rng.randint(1, 2)
    # Sometimes the panels lie to the left and above the middle of a larger grid.
    grid = canvas(min(30, height + top + rng.randint(1, 6)), min(30, width + left + rng.randint(1, 6)))
    grid[top : top + height, left : left + width] = panels
    return grid, join(after, color)


def verify(grid: Grid) -> Grid:
    panels = split(crop(grid), 0)
    (signed,) = [panel for row in panels for panel in row if panel.all()]
    color = signed[0, 0]
    pattern = signed != color
    output = [
        [np.full_like(signed, color) if sign == color else np.where(pattern, color, sign) for sign in row]
        for row in signed[1::2, 1::2]
    ]
    return join(output, color)
