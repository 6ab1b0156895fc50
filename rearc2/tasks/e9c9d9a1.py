"""Green lines divide the grid into rooms. The rooms in the corners become red, yellow, blue and sky blue; those that do
not touch the border become orange."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, join, splits

GREEN, INNER = 3, 7
CORNERS = ((2, 4), (1, 8))


def generate(rng: Random) -> tuple[Grid, Grid]:
    heights = [rng.randint(1, 6) for _ in range(rng.randint(3, 5))]
    widths = [rng.randint(1, 6) for _ in range(rng.randint(3, 5))]
    height, width = sum(heights) + len(heights) - 1, sum(widths) + len(widths) - 1
    if (
        max(height, width) > 30 or 2 * sum(heights) * sum(widths) < height * width
    ):  # too large, too little room
        raise Retry
    last_row, last_column = len(heights) - 1, len(widths) - 1

    def color(row: int, column: int) -> int:
        if row in (0, last_row) and column in (0, last_column):
            return CORNERS[row > 0][column > 0]
        return INNER if 0 < row < last_row and 0 < column < last_column else 0

    before = [[canvas(height, width) for width in widths] for height in heights]
    after = [
        [canvas(height, width, color(row, column)) for column, width in enumerate(widths)]
        for row, height in enumerate(heights)
    ]
    return join(before, GREEN), join(after, GREEN)


def verify(grid: Grid) -> Grid:
    rows, columns = splits(grid, GREEN)
    output = np.zeros_like(grid)
    output[rows[0] : rows[-1], columns[0] : columns[-1]] = INNER
    (output[: rows[0], : columns[0]], output[: rows[0], columns[-1] :]) = CORNERS[0]
    (output[rows[-1] :, : columns[0]], output[rows[-1] :, columns[-1] :]) = CORNERS[1]
    return np.where(grid == GREEN, GREEN, output)
