"""In noise of two colours lie solid rectangles in rows and columns. The output has one cell for each, in its colour and
in the same order."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, fill, objects, random_cells

SIDE, COLUMNS = 30, 3


def generate(rng: Random) -> tuple[Grid, Grid]:
    palette = colors(rng, 9)
    noise, palette = palette[:2], palette[2 : rng.randint(6, 9)]
    black = rng.choice([2, 3])
    before = random_cells(rng, (SIDE, SIDE), [0] * black + noise)
    rows = rng.randint(2, 4)
    pitch = rng.randint(7, 8) if rows < 4 else 7
    after = canvas(rows, COLUMNS)
    for row in range(rows):
        heights = [rng.randint(3, 6) for _ in range(COLUMNS)]
        tops = [2 + row * pitch + rng.randint(0, pitch - 1 - height) for height in heights]
        # One row of rectangles: a straight line goes through them all.
        if max(tops) >= min(top + height for top, height in zip(tops, heights, strict=True)):
            raise Retry
        for column in range(COLUMNS):
            width = rng.choice([3, 4, 4, 5, 5, 6, 6, 7, 8])
            color = rng.choice(palette)
            fill(
                before,
                tops[column],
                2 + 9 * column + rng.randint(0, 8 - width),
                heights[column],
                width,
                color,
            )
            after[row, column] = color
    return before, after


def verify(grid: Grid) -> Grid:
    rectangles = []
    for color in np.unique(grid[grid != 0]):
        things = objects(np.where(grid == color, grid, 0), diagonal=False)
        if all(thing.mask.all() and min(thing.height, thing.width) >= 3 for thing in things):  # not noise
            rectangles += things
    rows: list[list[int]] = []
    last = -1  # the lowest line of the row of rectangles
    for thing in sorted(rectangles, key=lambda thing: thing.top):
        if thing.top > last:
            rows.append([])
        last = max(last, thing.bottom)
        rows[-1].append(rectangles.index(thing))
    ordered = [sorted(row, key=lambda number: rectangles[number].left) for row in rows]
    return np.array([[rectangles[number].color for number in row] for row in ordered])
