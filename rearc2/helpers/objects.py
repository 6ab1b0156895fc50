"""Objects: connected components, boxes, flood fill and the colours that dominate."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from rearc2.helpers.grid import Grid, Mask


@dataclass(frozen=True, eq=False)
class Thing:
    """A connected component: its box within the grid, and what the box holds."""

    top: int
    left: int
    mask: Mask  # [height, width] of the box
    patch: Grid  # the grid's colours in the box, 0 where the mask is not set

    @property
    def height(self) -> int:
        return self.mask.shape[0]

    @property
    def width(self) -> int:
        return self.mask.shape[1]

    @property
    def bottom(self) -> int:
        """The last row, inclusive."""
        return self.top + self.height - 1

    @property
    def right(self) -> int:
        """The last column, inclusive."""
        return self.left + self.width - 1

    @cached_property
    def size(self) -> int:
        """The number of cells."""
        return int(self.mask.sum())

    @cached_property
    def color(self) -> int:
        """The most common colour of its cells."""
        return most_common(self.patch[self.mask])

    @cached_property
    def cells(self) -> list[tuple[int, int]]:
        """Places in the whole grid, in reading order."""
        rows, columns = np.nonzero(self.mask)
        return list(zip((rows + self.top).tolist(), (columns + self.left).tolist(), strict=True))

    @property
    def slices(self) -> tuple[slice, slice]:
        """Indexes the box: grid[thing.slices]."""
        return slice(self.top, self.bottom + 1), slice(self.left, self.right + 1)


def objects(
    grid: Grid, background: int | None = 0, diagonal: bool = True, same_color: bool = True
) -> list[Thing]:
    """The components of all cells that are not `background` (None: of all cells), by first cell in reading order.

    Cells join over edges, with `diagonal` over corners too, and with `same_color` only if they have one colour.
    """
    cells = np.ones(grid.shape, bool) if background is None else grid != background
    labels, count = _components(grid if same_color else cells, cells, diagonal)
    return _things(grid, labels, count)


def label(mask: Mask, diagonal: bool = True) -> tuple[Grid, int]:
    """[height, width] of component numbers 1, 2, ... in reading order, 0 outside the mask; and their count."""
    return _components(mask, mask, diagonal)


def flood(free: Mask, start: Mask | tuple[int, int], diagonal: bool = False) -> Mask:
    """The cells of `free` that can be reached from the start (a mask or one place) through `free`."""
    labels, count = label(free, diagonal)
    seeds = np.unique(labels[start])
    return np.asarray(np.isin(labels, seeds[seeds > 0])) if count else np.zeros(free.shape, bool)


def outside(wall: Mask, diagonal: bool = False) -> Mask:
    """The cells not in `wall` that are connected to the grid's border."""
    border = np.ones(wall.shape, bool)
    border[1:-1, 1:-1] = False
    return flood(~wall, border, diagonal)


def holes(wall: Mask, diagonal: bool = False) -> Mask:
    """The cells not in `wall` that it encloses."""
    return ~wall & ~outside(wall, diagonal)


def grow(mask: Mask, diagonal: bool = True) -> Mask:
    """The mask with all its neighbours."""
    tall = mask.copy()
    tall[1:] |= mask[:-1]
    tall[:-1] |= mask[1:]
    across = tall if diagonal else mask
    result = tall.copy()
    result[:, 1:] |= across[:, :-1]
    result[:, :-1] |= across[:, 1:]
    return result


def box(mask: Mask) -> tuple[int, int, int, int]:
    """Top, left, height, width of the smallest box around the set cells, of which there must be one."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    top, left = int(rows[0]), int(columns[0])
    return top, left, int(rows[-1]) - top + 1, int(columns[-1]) - left + 1


def crop(grid: Grid, mask: Mask | None = None) -> Grid:
    """A copy of the box around the mask (default: around what is not 0)."""
    top, left, height, width = box(grid != 0 if mask is None else mask)
    return grid[top : top + height, left : left + width].copy()


def most_common(cells: npt.NDArray[np.integer], without: Collection[int] = ()) -> int:
    """The most common colour that is not in `without`; of equally common ones the smallest."""
    counts = np.bincount(cells.ravel(), minlength=10)
    counts[list(without)] = -1
    return int(counts.argmax())


def background(grid: Grid) -> int:
    """The most common colour of the grid."""
    return most_common(grid)


def _components(values: npt.NDArray[np.generic], cells: Mask, diagonal: bool) -> tuple[Grid, int]:
    """Component numbers as `label`'s; neighbours join if both are in `cells` and have equal `values`."""
    height, width = cells.shape
    stride = width + 2  # a border of None spares every test for the edge
    framed: list[object] = [None] * (stride * (height + 2))
    inside = np.where(cells, values.astype(np.int64), -1).tolist()
    for row in range(height):
        start = (row + 1) * stride + 1
        framed[start : start + width] = [None if value < 0 else value for value in inside[row]]
    steps = [-stride, -1, 1, stride] + (
        [-stride - 1, -stride + 1, stride - 1, stride + 1] if diagonal else []
    )
    labels = [0] * len(framed)
    count = 0
    for first, value in enumerate(framed):
        if value is None or labels[first]:
            continue
        count += 1
        labels[first] = count
        stack = [first]
        while stack:
            place = stack.pop()
            for step in steps:
                near = place + step
                if not labels[near] and framed[near] == value:
                    labels[near] = count
                    stack.append(near)
    return np.array(labels).reshape(height + 2, stride)[1:-1, 1:-1], count


def _things(grid: Grid, labels: Grid, count: int) -> list[Thing]:
    if not count:
        return []
    rows, columns = np.nonzero(labels)
    numbers = labels[rows, columns]
    limits = np.full((4, count + 1), -1)
    limits[:2] = 30 * 30
    np.minimum.at(limits[0], numbers, rows)
    np.minimum.at(limits[1], numbers, columns)
    np.maximum.at(limits[2], numbers, rows)
    np.maximum.at(limits[3], numbers, columns)
    things = []
    for number, (top, left, bottom, right) in enumerate(limits.T.tolist()):
        if number:
            part = slice(top, bottom + 1), slice(left, right + 1)
            mask = labels[part] == number
            things.append(Thing(top, left, mask, np.where(mask, grid[part], 0)))
    return things
