"""The figure is replaced by its outline: all cells beside it, along an edge, in the colour of its innermost cells,
which is its rarest."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, background, canvas, colors, grow, holes, mostly, random_shape

GROUND = 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = mostly(rng, 3, 6, 8), mostly(rng, 3, 6, 8)
    shape = random_shape(rng, height, width, rng.uniform(0.6, 0.9))
    shape |= holes(np.pad(shape, 1))[1:-1, 1:-1]
    side = mostly(rng, max(height, width), 8, 16)
    top, left = rng.randint(0, side - height), rng.randint(0, side - width)
    figure = np.zeros((side, side), bool)
    figure[top : top + height, left : left + width] = shape
    rim, middle, core = colors(rng, 3, without=(0, GROUND))
    before = np.where(figure, rim, GROUND)
    inner = _inside(figure)
    if rng.random() < 0.4:
        before[inner] = middle
        inner = _inside(inner)
    places = np.argwhere(inner).tolist()
    if not places:
        raise Retry
    # All of the innermost layer, or some cells of it.
    count = len(places) if rng.random() < 0.4 else rng.randint(1, len(places))
    for row, column in rng.sample(places, count):
        before[row, column] = core
    if background(before) != GROUND or any(0 < (before == color).sum() <= count for color in (rim, middle)):
        raise Retry
    after = canvas(side, side, GROUND)
    after[grow(figure, diagonal=False) & ~figure] = core
    return before, after


def _inside(mask: Mask) -> Mask:
    """The cells of the mask whose four neighbours belong to it too."""
    padded = np.pad(mask, 1)
    return mask & padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:]


def verify(grid: Grid) -> Grid:
    counts = {color: int((grid == color).sum()) for color in np.unique(grid[grid != GROUND]).tolist()}
    color = min(counts, key=lambda key: counts[key])
    output = np.full_like(grid, GROUND)
    for row, column in np.argwhere(grid == GROUND).tolist():
        cross = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
        near = [grid[r, c] for r, c in cross if 0 <= r < len(grid) and 0 <= c < grid.shape[1]]
        if any(cell != GROUND for cell in near):
            output[row, column] = color
    return output
