"""Drawing on a grid in place, and simple transformations into a new one."""

from __future__ import annotations

import numpy as np

from rearc2.helpers.grid import Grid, Mask


def canvas(height: int, width: int, color: int = 0) -> Grid:
    """A new grid of one colour."""
    return np.full((height, width), color, np.int64)


def paint(grid: Grid, patch: Grid | Mask, top: int, left: int, color: int | None = None) -> None:
    """Draws the patch's cells that are not 0, in their own colours or in `color`; what sticks out is cut off."""
    height, width = grid.shape
    rows, columns = np.nonzero(patch)
    inside = (rows + top >= 0) & (rows + top < height) & (columns + left >= 0) & (columns + left < width)
    rows, columns = rows[inside], columns[inside]
    grid[rows + top, columns + left] = patch[rows, columns] if color is None else color


def fill(grid: Grid, top: int, left: int, height: int, width: int, color: int) -> None:
    """A solid rectangle."""
    grid[max(0, top) : max(0, top + height), max(0, left) : max(0, left + width)] = color


def frame(grid: Grid, top: int, left: int, height: int, width: int, color: int) -> None:
    """The outline, one cell thick, of a rectangle; what sticks out of the grid is cut off."""
    fill(grid, top, left, 1, width, color)
    fill(grid, top + height - 1, left, 1, width, color)
    fill(grid, top, left, height, 1, color)
    fill(grid, top, left + width - 1, height, 1, color)


def line(grid: Grid, start: tuple[int, int], end: tuple[int, int], color: int) -> None:
    """A straight line, both ends included: along a row, a column or a diagonal."""
    down, right = end[0] - start[0], end[1] - start[1]
    if down and right and abs(down) != abs(right):
        raise ValueError(f"the line from {start} to {end} is neither straight nor diagonal")
    count = max(abs(down), abs(right)) + 1
    rows, columns = np.linspace(start, end, count).round().astype(int).T
    grid[rows, columns] = color


def ray(
    grid: Grid, start: tuple[int, int], step: tuple[int, int], color: int, through: int | None = 0
) -> list[tuple[int, int]]:
    """Draws from the cell after `start` on, as long as cells have the colour `through` (None: any) and the grid goes.

    Returns the places drawn, nearest first.
    """
    height, width = grid.shape
    drawn = []
    row, column = start[0] + step[0], start[1] + step[1]
    while 0 <= row < height and 0 <= column < width and (through is None or grid[row, column] == through):
        grid[row, column] = color
        drawn.append((row, column))
        row, column = row + step[0], column + step[1]
    return drawn


def gravity(grid: Grid, background: int = 0) -> Grid:
    """Every cell falls down its column by itself; use `to_top` for the other directions."""
    # A stable sort by "is not background" moves background up and keeps the order of the rest.
    order = np.argsort(grid != background, axis=0, kind="stable")
    return np.take_along_axis(grid, order, axis=0)


def upscale(grid: Grid, factor: int) -> Grid:
    """Every cell becomes a block of factor x factor cells."""
    return grid.repeat(factor, axis=0).repeat(factor, axis=1)
