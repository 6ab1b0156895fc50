"""Rings of different colours overlap among noise. The output stacks the whole rings, from the one that lies on top
down to the one that lies under all others."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, background, canvas, colors, paint, retrying

RING = np.array(
    [[cell == "o" for cell in row] for row in ("..oo..", ".o..o.", "o....o", "o....o", ".o..o.", "..oo..")]
)
SIZE = len(RING)
CUT = 1  # a ring may stick out of the grid by one cell


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(2, 5)
    return retrying(lambda: _draw(rng, count))  # the count is kept: many rings fail more often


def _draw(rng: Random, count: int) -> tuple[Grid, Grid]:
    side = rng.randint(10, 24)
    ground, *shades = colors(rng, count + 1 + rng.randint(1, 2), without=())
    shades, noise = shades[:count], shades[count:]
    corners = [(rng.randint(0, side - SIZE), rng.randint(0, side - SIZE))]
    while len(corners) < count:
        top, left = corners[-1]
        corners.append((top + rng.randint(-5, 5), left + rng.randint(-5, 5)))
    if min(map(min, corners)) < -CUT or max(map(max, corners)) > side - SIZE + CUT:
        raise Retry
    masks = [canvas(side, side) > 0 for _ in corners]
    for mask, (top, left) in zip(masks, corners, strict=True):
        paint(mask, RING, top, left)
    before = canvas(side, side, ground)
    for mask, shade in reversed(list(zip(masks, shades, strict=True))):
        before[mask] = shade
    free, drawn = np.argwhere(before == ground).tolist(), np.argwhere(before != ground).tolist()
    for number, (row, column) in enumerate(rng.sample(free, rng.randint(4, 4 + side // 3))):
        before[row, column] = noise[number % len(noise)]
    if rng.random() < 0.4:
        row, column = rng.choice(drawn)
        before[row, column] = noise[0]  # noise may also hide a cell of a ring
    for number, shade in enumerate(shades):
        # Each ring is seen on the next one, and enough of each is seen.
        crossing = masks[number] & masks[number + 1] if number + 1 < count else masks[number]
        if not (before[crossing] == shade).any() or (before == shade).sum() < 8:
            raise Retry
    return before, np.vstack([np.where(RING, shade, ground) for shade in shades])


def verify(grid: Grid) -> Grid:
    ground = background(grid)
    masks = {color: mask for color in range(10) for mask in _rings(grid, color, ground)}
    order: list[int] = []
    while len(order) < len(masks):
        left = [color for color in masks if color not in order]
        # The next one is not covered by any that is left.
        (free,) = [color for color in left if not set(grid[masks[color]].tolist()) & (set(left) - {color})]
        order.append(free)
    output = canvas(SIZE * len(order), SIZE, ground)
    for number, color in enumerate(order):
        paint(output, RING, SIZE * number, 0, color)
    return output


def _rings(grid: Grid, color: int, ground: int) -> list[Mask]:
    """The ring of that colour, if there is one: no cell of it shows the ground, all cells of the colour are in it."""
    rows, columns = np.nonzero(grid == color)
    found = []
    if color != ground and len(rows):
        for top in range(max(-CUT, rows.max() - SIZE + 1), min(rows.min(), grid.shape[0] - SIZE + CUT) + 1):
            for left in range(
                max(-CUT, columns.max() - SIZE + 1), min(columns.min(), grid.shape[1] - SIZE + CUT) + 1
            ):
                mask = np.zeros(grid.shape, bool)
                paint(mask, RING, top, left)
                if not (grid[mask] == ground).any() and mask[rows, columns].all():
                    found.append(mask)
    return found
