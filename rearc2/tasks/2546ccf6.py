"""Around some crossings of the lines a figure lies in three of the four panels, mirrored on the lines. The fourth
panel gets its mirror image too."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, paint, random_shape, spots


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(4, 6)  # of a panel
    step = side + 1
    shape = [rng.randint(2 * step + 1, 30) for _ in range(2)]
    if 0 in (shape[0] % step, shape[1] % step):  # there is no line at the border
        raise Retry
    ruling, *palette = colors(rng, 6)
    before = canvas(shape[0], shape[1])
    before[side::step] = before[:, side::step] = ruling
    after = before.copy()
    taken = np.zeros(((shape[0] + 1) // step, (shape[1] + 1) // step), bool)  # the whole panels
    for color in palette[: rng.randint(1, taken.size // 4)]:
        crossings = spots(taken, 2, 2).tolist()
        if not crossings:
            break
        row, column = rng.choice(crossings)
        taken[row : row + 2, column : column + 2] = True
        quarter = np.zeros((side, side), bool)  # the upper left one
        height, width = rng.randint(2, min(4, side)), rng.randint(3, min(4, side))
        quarter[-height:, -width:] = random_shape(rng, height, width, rng.uniform(0.4, 0.6), diagonal=True)
        missing = rng.randrange(4)
        for number, part in enumerate((quarter, quarter[:, ::-1], quarter[::-1], quarter[::-1, ::-1])):
            top, left = step * (row + number // 2), step * (column + number % 2)
            paint(after, part, top, left, color)
            if number != missing:
                paint(before, part, top, left, color)
    return before, after


def verify(grid: Grid) -> Grid:
    # The lines are the only rows without background.
    lines = np.flatnonzero((grid != 0).all(axis=1))
    ruling, side = int(grid[lines[0], 0]), int(lines[0])
    step = side + 1
    output = grid.copy()
    for color in sorted(set(grid.ravel().tolist()) - {0, ruling}):
        panels = sorted(
            {(row // step, column // step) for row, column in np.argwhere(grid == color).tolist()}
        )
        rows, columns = sorted({row for row, _ in panels}), sorted({column for _, column in panels})
        ((row, column),) = [(r, c) for r in rows for c in columns if (r, c) not in panels]
        beside = columns[0] if column == columns[1] else columns[1]
        image = grid[row * step : row * step + side, beside * step : beside * step + side][:, ::-1]
        paint(output, image, row * step, column * step)
    return output
