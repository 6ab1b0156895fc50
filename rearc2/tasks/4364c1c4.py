"""Every figure has an upper and a lower part of different colours: the upper part moves one cell to the left, the lower
part one to the right."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, background, canvas, colors, objects, place


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(10, 18), rng.randint(10, 18)
    ground, *palette = colors(rng, 5, without=())
    before, after = canvas(height, width, ground), canvas(height, width, ground)
    parts = []
    for _ in range(rng.randint(1, 2 if height * width < 200 else 3)):
        wide = rng.randint(3, 7)
        upper, lower = _notched(rng, wide), _notched(rng, wide)[::-1]
        parts.append((upper, lower, *rng.sample(palette, 2)))
    # Each figure with a free column on both sides, where its parts go.
    sizes = [(len(upper) + len(lower), upper.shape[1] + 2) for upper, lower, _, _ in parts]
    for (upper, lower, one, other), (top, left) in zip(parts, place(rng, before.shape, sizes), strict=True):
        for grid, shift in ((before, 0), (after, 1)):
            for mask, row, color, column in (
                (upper, top, one, left + 1 - shift),
                (lower, top + len(upper), other, left + 1 + shift),
            ):
                part = grid[row : row + mask.shape[0], column : column + mask.shape[1]]
                part[mask] = color
    return before, after


def _notched(rng: Random, wide: int) -> Mask:
    """A rectangle, often with a notch at its top."""
    mask = np.ones((rng.randint(1, 5), wide), bool)
    if len(mask) > 1 and rng.random() < 0.7:
        start = rng.randint(1, wide - 2)
        mask[: rng.randint(1, len(mask) - 1), start : rng.randint(start + 1, wide)] = False
    return mask


def verify(grid: Grid) -> Grid:
    ground = background(grid)
    output = np.full_like(grid, ground)
    for thing in objects(np.where(grid == ground, -1, grid), background=-1, same_color=False):
        upper = grid[thing.cells[0]]
        for row, column in thing.cells:
            color = grid[row, column]
            output[row, column - 1 if color == upper else column + 1] = color
    return output
