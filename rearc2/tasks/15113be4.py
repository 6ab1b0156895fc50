"""The large key in a corner shows a 3x3 pattern, each cell as a 2x2 block. In every small panel whose blue cells
contain the pattern, those cells take the key's colour."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, random_shape, scatter, upscale

BLUE, LINE = 1, 4
SIDE, PITCH = 23, 4  # six by six panels of 3x3, with lines between them
KEY = 8  # the key with its frame


def generate(rng: Random) -> tuple[Grid, Grid]:
    (color,) = colors(rng, 1, without=(0, BLUE, LINE))
    pattern = random_shape(rng, 3, 3, rng.uniform(0.3, 0.6), diagonal=True)
    if pattern.sum() > 5:
        raise Retry
    density = rng.uniform(0.25, 0.45)
    wanted = rng.randint(1, 4)
    before = canvas(SIDE, SIDE, LINE)
    after = before.copy()
    corner = rng.choice([0, SIDE - KEY]), rng.choice([0, SIDE - KEY])
    panels = [(top, left) for top in range(0, SIDE, PITCH) for left in range(0, SIDE, PITCH)]
    # Two by two panels make way for the key.
    panels = [
        (top, left)
        for top, left in panels
        if not (corner[0] - 2 < top < corner[0] + KEY and corner[1] - 2 < left < corner[1] + KEY)
    ]
    hits = rng.sample(panels, wanted)
    for top, left in panels:
        blue = scatter(rng, (3, 3), density) | (pattern if (top, left) in hits else False)
        contained = not (pattern & ~blue).any()
        before[top : top + 3, left : left + 3] = blue * BLUE
        after[top : top + 3, left : left + 3] = np.where(pattern & contained, color, blue * BLUE)
    key = np.pad(upscale(pattern * color, 2), 1, constant_values=LINE)
    for grid in (before, after):
        grid[corner[0] : corner[0] + KEY, corner[1] : corner[1] + KEY] = key
    return before, after


def verify(grid: Grid) -> Grid:
    key = ~np.isin(grid, (0, BLUE, LINE))
    color = grid[key].max()
    top = 1 if key[:KEY].any() else SIDE - KEY + 1
    left = 1 if key[:, :KEY].any() else SIDE - KEY + 1
    pattern = key[top : top + 6 : 2, left : left + 6 : 2]
    output = grid.copy()
    for r in range(0, SIDE, PITCH):
        for c in range(0, SIDE, PITCH):
            panel = output[r : r + 3, c : c + 3]
            if (panel != LINE).all() and (panel[pattern] == BLUE).all():
                panel[pattern] = color
    return output
