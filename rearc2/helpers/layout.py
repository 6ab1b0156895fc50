"""Layout: places without overlap, panels between lines, and turning a side to the top and back."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random

import numpy as np

from rearc2.helpers.chance import Retry
from rearc2.helpers.grid import Grid, Mask
from rearc2.helpers.objects import grow

SIDES = ("top", "right", "bottom", "left")


def spots(taken: Mask, height: int, width: int) -> Grid:
    """[n, 2]: all (top, left) where a box of that size covers no cell of `taken`."""
    rows, columns = taken.shape
    if height > rows or width > columns:
        return np.zeros((0, 2), np.int64)
    sums = np.zeros((rows + 1, columns + 1), np.int64)
    sums[1:, 1:] = taken.cumsum(axis=0).cumsum(axis=1)
    covered = (
        sums[height:, width:] - sums[:-height, width:] - sums[height:, :-width] + sums[:-height, :-width]
    )
    return np.argwhere(covered == 0)


def place(
    rng: Random,
    shape: tuple[int, int],
    sizes: Sequence[tuple[int, int]],
    gap: int = 1,
    margin: int = 0,
    taken: Mask | None = None,
    tries: int = 10,
) -> list[tuple[int, int]]:
    """(top, left) for boxes of the given (height, width), in the order given, at random and without overlap.

    There are at least `gap` free cells between boxes (diagonally too), and between a box and `taken`, and `margin`
    cells to the grid's border. Largest boxes are placed first; raises Retry when no try fits them all in.
    """
    blocked = np.zeros(shape, bool) if taken is None else _spread(taken, gap)
    if margin:
        blocked = blocked.copy()
        blocked[:margin] = blocked[-margin:] = blocked[:, :margin] = blocked[:, -margin:] = True
    order = sorted(range(len(sizes)), key=lambda number: -sizes[number][0] * sizes[number][1])
    for _ in range(tries):
        free, found = blocked.copy(), {}
        for number in order:
            height, width = sizes[number]
            choices = spots(free, height, width)
            if not len(choices):
                break
            top, left = choices[rng.randrange(len(choices))].tolist()
            found[number] = top, left
            free[max(0, top - gap) : top + height + gap, max(0, left - gap) : left + width + gap] = True
        else:
            return [found[number] for number in range(len(sizes))]
    raise Retry(f"{len(sizes)} boxes do not fit into {shape[0]}x{shape[1]}")


def splits(grid: Grid, color: int | None = None) -> tuple[list[int], list[int]]:
    """Rows and columns that are wholly of `color` (None: of any one colour)."""

    def full(lines: Grid) -> list[int]:
        same = (lines == lines[:, :1]).all(axis=1) & ((lines[:, 0] == color) | (color is None))
        return [int(number) for number in np.flatnonzero(same)]

    return full(grid), full(grid.T)


def split(grid: Grid, color: int) -> list[list[Grid]]:
    """The panels between the full lines of `color`, as rows of panels."""

    def spans(lines: list[int], end: int) -> list[slice]:
        edges = [-1, *lines, end]
        return [slice(a + 1, b) for a, b in pairwise(edges) if b > a + 1]

    rows, columns = splits(grid, color)
    height, width = grid.shape
    return [[grid[down, right] for right in spans(columns, width)] for down in spans(rows, height)]


def join(panels: Sequence[Sequence[Grid]], color: int, thickness: int = 1) -> Grid:
    """Rows of panels, put together with lines of `color` between them: the inverse of `split`."""
    bands = []
    for row in panels:
        line = np.full((row[0].shape[0], thickness), color)
        bands.append(np.hstack([part for panel in row for part in (line, panel)][1:]))
    line = np.full((thickness, bands[0].shape[1]), color)
    return np.vstack([part for band in bands for part in (line, band)][1:])


def to_top(grid: Grid, side: str) -> Grid:
    """The grid turned so that the given side (of SIDES) becomes the top; `undo_to_top` turns it back."""
    return np.rot90(grid, SIDES.index(side))


def undo_to_top(grid: Grid, side: str) -> Grid:
    return np.rot90(grid, -SIDES.index(side))


def symmetries(grid: Grid) -> list[Grid]:
    """The 8 images: identity, three quarter turns (counterclockwise), and the same of the left-right mirror image."""
    return [np.rot90(image, turns) for image in (grid, grid[:, ::-1]) for turns in range(4)]


def _spread(mask: Mask, distance: int) -> Mask:
    for _ in range(distance):
        mask = grow(mask)
    return mask
