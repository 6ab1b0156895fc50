"""Two lines cross, each with two marks. A weave replaces them: its columns run between the marks of the level line,
its rows from the level line to the farther mark of the upright one. Every other row is of the level line's colour;
in between the upright line's colour alternates with a mark's, that of the upright line as far as its marks reach. If
the upright line lies on top where they cross, its colour goes on through all rows."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, most_common

WRONG = {
    "train 1": "row 4 of the weave has the level line's colour where the upright line's belongs, unlike rows 6, 8"
}


def generate(rng: Random) -> tuple[Grid, Grid]:
    height = min(rng.randint(10, 26), rng.randint(10, 26))
    width = height if rng.random() < 0.4 else rng.randint(10, 20)
    level, upright, level_mark, upright_mark = colors(rng, 4)
    row, column = rng.randrange(height), rng.randrange(width)
    left, right = sorted(rng.sample([c for c in range(width) if c != column], 2))
    first, last = sorted(rng.sample([r for r in range(height) if r != row], 2))
    # Where the weave starts is only known from its top left corner on, and if that is not the near end: odd sizes.
    from_below, from_right = row > last, column > right
    if first < row < last or right - left < 2 or max(last, row) - min(first, row) < 3:
        raise Retry
    if (from_below and (row - first) % 2) or (from_right and (right - left) % 2):
        raise Retry
    # The lines run to the border, or nearly.
    margins = [0, 0, 0, 0] if rng.random() < 0.7 else [rng.randint(0, 5) for _ in range(4)]
    top, bottom = min(margins[0], first, row), max(height - 1 - margins[1], last, row)
    west, east = min(margins[2], left, column), max(width - 1 - margins[3], right, column)
    if east - west < 6 or bottom - top < 6:
        raise Retry  # each line has more cells of its own colour than marks
    on_top = rng.random() < 0.4
    before, after = canvas(height, width), canvas(height, width)
    before[row, west : east + 1] = level
    before[top : bottom + 1, column] = upright
    before[row, column] = upright if on_top else level
    before[row, [left, right]] = level_mark
    before[[first, last], column] = upright_mark
    for r in range(min(first, row), max(last, row) + 1):
        threads = (r - min(first, row)) % 2 == 0
        for c in range(left, right + 1):
            if (c - left) % 2 and (threads or on_top):
                after[r, c] = upright
            elif threads:
                after[r, c] = upright_mark if first <= r <= last else level_mark
            else:
                after[r, c] = level
    return before, after


def verify(grid: Grid) -> Grid:
    row, column = int((grid != 0).sum(axis=1).argmax()), int((grid != 0).sum(axis=0).argmax())
    crossing = grid[row, column]
    level_cells, upright_cells = np.delete(grid[row], column), np.delete(grid[:, column], row)
    level, upright = most_common(level_cells, without=(0,)), most_common(upright_cells, without=(0,))
    west, east = [c for c in range(grid.shape[1]) if c != column and grid[row, c] not in (0, level)]
    north, south = [r for r in range(grid.shape[0]) if r != row and grid[r, column] not in (0, upright)]
    output = np.zeros_like(grid)
    weave = output[min(north, row) : max(south, row) + 1, west : east + 1]
    weave[1::2] = level
    weave[::2, ::2] = grid[row, west]
    marked = np.arange(min(north, row), max(south, row) + 1)
    inside = (marked >= north) & (marked <= south) & (np.arange(len(marked)) % 2 == 0)
    weave[np.flatnonzero(inside), ::2] = grid[north, column]
    weave[::2, 1::2] = upright
    if crossing == upright:
        weave[:, 1::2] = upright
    return output
