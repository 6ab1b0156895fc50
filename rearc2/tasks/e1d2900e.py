"""A blue cell that lies in a row or column of a red square moves straight to the nearest such square, until it
touches it; other blue cells stay."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, fill, objects, place

BLUE, RED = 1, 2
WRONG = {"train 1": "the blue cell at (23, 13) stays though it lies in a row of the red square at (22, 20)"}


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.choice(
        [(30, 30), (30, 30), (rng.randint(10, 28), rng.randint(10, 28)), (10, rng.randint(10, 16))]
    )
    count = rng.randint(2, 2 + height * width // 250)
    squares = place(rng, (height, width), [(2, 2)] * count, gap=2, margin=1)
    before = canvas(height, width)
    for top, left in squares:
        fill(before, top, left, 2, 2, RED)
    after = before.copy()
    moved = 0
    for _ in range(rng.randint(2, 7) * count + 4):
        square = rng.choice(squares) if rng.random() < 0.75 else None
        row, column = rng.randrange(height), rng.randrange(width)
        if square is not None and rng.random() < 0.5:
            row = square[0] + rng.randint(0, 1)
        elif square is not None:
            column = square[1] + rng.randint(0, 1)
        moved += _add(before, after, squares, row, column)
    if moved < 2:
        raise Retry
    return before, after


def _add(before: Grid, after: Grid, squares: list[tuple[int, int]], row: int, column: int) -> bool:
    """Adds a blue cell and its move to both grids if that is possible and clear; true if it moves."""
    ways = []
    for top, left in squares:
        if row - top in (0, 1):
            end = left - 1 if column < left else left + 2
            ways.append((abs(column - end), row, end))
        elif column - left in (0, 1):
            end = top - 1 if row < top else top + 2
            ways.append((abs(row - end), end, column))
    ways.sort()
    distance, end_row, end_column = ways[0] if ways else (-1, row, column)
    lane = (
        slice(min(row, end_row), max(row, end_row) + 1),
        slice(min(column, end_column), max(column, end_column) + 1),
    )
    tied = len(ways) > 1 and ways[0][0] == ways[1][0]
    if tied or distance == 0 or before[lane].any() or after[lane].any():
        return False
    before[row, column] = after[end_row, end_column] = BLUE
    return bool(ways)


def verify(grid: Grid) -> Grid:
    output = grid * (grid == RED)
    squares = objects(output)
    height, width = grid.shape
    for row, column in np.argwhere(grid == BLUE).tolist():
        # All four ways at once, one step further each time, until one of them meets red.
        target = row, column
        for step in range(1, max(height, width)):
            ends = [(row - step, column), (row + step, column), (row, column - step), (row, column + step)]
            hits = [(r, c) for r, c in ends for square in squares if (r, c) in square.cells]
            if hits:
                r, c = hits[0]
                target = r - (r > row) + (r < row), c - (c > column) + (c < column)
                break
        output[target] = BLUE
    return output
