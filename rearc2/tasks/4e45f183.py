"""Nine tiles are put in order: each goes to that side, corner or the middle of the picture towards which its drawing
lies on the tile."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, colors, scatter

TILE = 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    ground, ink = colors(rng, 2)
    # Everything follows from the drawing in the upper left corner and the one at the upper side.
    corner, upper = np.zeros((TILE, TILE), bool), np.zeros((TILE, TILE), bool)
    corner[:2, :2] = scatter(rng, (2, 2), 0.6)
    corner |= corner.T
    upper[:2, :3] = scatter(rng, (2, 3), 0.5)
    upper |= upper[:, ::-1]
    if not corner.any() or not upper.any():
        raise Retry
    middle = corner | corner[::-1] | corner[:, ::-1] | corner[::-1, ::-1]
    ordered = [
        *(corner, upper, corner[:, ::-1]),
        *(upper.T, middle, upper.T[:, ::-1]),
        *(corner[::-1], upper[::-1], corner[::-1, ::-1]),
    ]
    return _picture(rng.sample(ordered, 9), ground, ink), _picture(ordered, ground, ink)


def _picture(tiles: list[Mask], ground: int, ink: int) -> Grid:
    cells = [np.pad(np.where(tile, ink, ground), ((1, 0), (1, 0))) for tile in tiles]
    rows = [np.hstack(cells[start : start + 3]) for start in (0, 3, 6)]
    return np.pad(np.vstack(rows), ((0, 1), (0, 1)))


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    pitch = TILE + 1
    starts = [1 + pitch * number for number in range(3)]
    tiles = [grid[top : top + TILE, left : left + TILE] for top in starts for left in starts]
    found, counts = np.unique(np.stack(tiles), return_counts=True)
    ink = found[counts.argmin()]
    for tile in tiles:
        row, column = np.argwhere(tile == ink).mean(axis=0) - TILE // 2
        top, left = starts[1 + int(np.sign(row))], starts[1 + int(np.sign(column))]
        output[top : top + TILE, left : left + TILE] = tile
    return output
