"""Small rings stand in a lattice of 7x7 places beside a blue line. Each becomes one cell, and all cells are pushed
together: a line on top pushes to the right, one on the right down, and so on clockwise. The place left over on every
row (or column) is cut off."""

from random import Random

import numpy as np

from rearc2.helpers import SIDES, Grid, Retry, canvas, colors, frame, gravity, scatter, to_top, undo_to_top

LINE, HALF = 1, 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.choice(SIDES)
    # Drawn as if the line were on top: one half in one colour, to the right, the other in two, and a free lane between.
    lattice = canvas(7, 7)
    upper, lower = colors(rng, 2, (0, LINE, HALF))
    density = rng.uniform(0.55, 0.8)
    lattice[:, 4:][scatter(rng, (7, 3), density)] = HALF
    lattice[:3, :3][scatter(rng, (3, 3), density)] = upper
    lattice[4:, :3][scatter(rng, (3, 3), density)] = lower
    # One row is full, as officially: the pushed cells span all six places that are kept.
    full = rng.choice([0, 1, 2, 4, 5, 6])
    lattice[full] = [upper if full < 3 else lower] * 3 + [0] + [HALF] * 3
    if min((lattice == color).sum() for color in (HALF, upper, lower)) < 3:
        raise Retry
    after = canvas(7, 6)
    for number, row in enumerate(lattice):
        cells = row[row > 0]
        after[number, 6 - len(cells) :] = cells
    before = canvas(30, 30)
    {"top": before[:1], "bottom": before[-1:], "left": before[:, :1], "right": before[:, -1:]}[side][:] = LINE
    lattice = undo_to_top(lattice, side)
    for row, column in np.argwhere(lattice):
        top, left = 4 * row + 1 + (side == "top"), 4 * column + 1 + (side == "left")
        frame(before, top, left, 3, 3, int(lattice[row, column]))
    return before, undo_to_top(after, side).copy()


def verify(grid: Grid) -> Grid:
    edges = {"top": grid[0], "right": grid[:, -1], "bottom": grid[-1], "left": grid[:, 0]}
    (side,) = [name for name, edge in edges.items() if (edge == LINE).all()]
    return _push(grid, SIDES[(SIDES.index(side) + 1) % 4])


def rival_half(grid: Grid) -> Grid:
    """Cells are pushed towards the half of the lattice that has one colour alone."""
    rings = np.where(grid == LINE, 0, grid)
    halves = {"top": rings[:14], "right": rings[:, 16:], "bottom": rings[16:], "left": rings[:, :14]}
    (side,) = [name for name, half in halves.items() if len(np.unique(half)) == 2]
    return _push(grid, side)


def rival_trim(grid: Grid) -> Grid:
    """Not one place is cut off, but all that stay empty."""
    edges = {"top": grid[0], "right": grid[:, -1], "bottom": grid[-1], "left": grid[:, 0]}
    (side,) = [name for name, edge in edges.items() if (edge == LINE).all()]
    pushed = _push(grid, SIDES[(SIDES.index(side) + 1) % 4])
    across = 0 if side in ("top", "bottom") else 1
    return np.compress(pushed.any(axis=across), pushed, axis=1 - across)


def _push(grid: Grid, towards: str) -> Grid:
    rings = np.where(grid == LINE, 0, grid)
    rows, columns = np.nonzero(rings)
    lattice = rings[(rows.min() % 4) :: 4, (columns.min() % 4) :: 4][:7, :7]
    turned = gravity(to_top(lattice, towards)[::-1])[::-1]
    return undo_to_top(turned[:6], towards).copy()
