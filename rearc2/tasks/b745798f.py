"""Four corner pieces of three cells look into the four directions. Each moves into the corner of the grid that it
looks like, and its arms grow to half the side."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, colors, objects, paint, place

BACKGROUND = 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = 2 * rng.choice([2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 9, 10]) + 1
    palette = colors(rng, 4, (BACKGROUND,))
    if rng.random() < 0.3:
        palette[0] = palette[1]
        rng.shuffle(palette)
    before, after = canvas(side, side, BACKGROUND), canvas(side, side, BACKGROUND)
    reach = side if rng.random() < 0.6 else min(side, rng.randint(5, 8))  # sometimes all lie close together
    places = place(rng, (reach, reach), [(2, 2)] * 4, gap=0)
    for turns, (color, (top, left)) in enumerate(zip(palette, places, strict=True)):
        paint(before, np.rot90(_corner(2), turns), top, left, color)
        paint(after, np.rot90(_corner(side), turns), 0, 0, color)
    if len(objects(before, BACKGROUND)) < 4:
        raise Retry  # two pieces of one colour touch
    turns = rng.randrange(4)
    return np.rot90(before, turns).copy(), np.rot90(after, turns).copy()


def _corner(side: int) -> Mask:
    """The piece in the first corner of a square of that side."""
    corner = np.zeros((side, side), bool)
    corner[0, : max(2, side // 2)] = corner[: max(2, side // 2), 0] = True
    return corner


def verify(grid: Grid) -> Grid:
    output = np.full_like(grid, BACKGROUND)
    arm = grid.shape[0] // 2
    for piece in objects(grid, BACKGROUND):
        ((row, column),) = np.argwhere(~piece.mask)
        # The missing cell lies opposite to the corner.
        edge_row, edge_column = (0, -1)[int(row == 0)], (0, -1)[int(column == 0)]
        output[edge_row, slice(arm) if edge_column == 0 else slice(arm + 1, None)] = piece.color
        output[slice(arm) if edge_row == 0 else slice(arm + 1, None), edge_column] = piece.color
    return output
