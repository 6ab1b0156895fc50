"""The blue figures fall onto the red line. Parts one cell wide go through it, wider parts do not: a bar goes on to
the floor and leaves a hole in the line, other figures hang on their lowest wide row."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, objects, paint, random_shape

GROUND, FIGURE, LINE = 8, 1, 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(7, 22)
    line = rng.randint(side // 2 - 1, side // 2 + 1)
    before, after = canvas(side, side, GROUND), canvas(side, side, GROUND)
    before[line] = after[line] = LINE
    column = rng.randint(0, 2)
    most, count = rng.randint(1 + side // 9, 1 + side // 3), 0
    while count < most:
        figure, stem = _figure(rng, min(line - 1, side - 2 - line))
        height, width = figure.shape
        if column + width > side:
            break
        paint(before, figure, rng.randint(0, line - 1 - height), column, FIGURE)
        if width == 1:
            after[line, column] = GROUND
            paint(after, figure, side - height, column, FIGURE)
        else:
            paint(after, figure, line - height + stem, column, FIGURE)
        column += width + rng.randint(1, 4)
        count += 1
    return before, after


def _figure(rng: Random, highest: int) -> tuple[Mask, int]:
    """A bar, or a wide body with a stem below; and the length of the stem."""
    if rng.random() < 0.4:
        return np.ones((rng.randint(1, highest), 1), bool), 0
    body = random_shape(rng, rng.randint(1, min(5, highest)), rng.randint(2, 3), 0.4)
    bottom = np.flatnonzero(body[-1]).tolist()
    if len(bottom) < 2 or bottom[-1] - bottom[0] >= len(bottom):  # it must rest on one wide row
        raise Retry
    stem = rng.randint(0, highest - body.shape[0])
    figure = np.pad(body, ((0, stem), (0, 0)))
    figure[body.shape[0] :, rng.choice(bottom)] = True
    return figure, stem


def verify(grid: Grid) -> Grid:
    line = int(np.flatnonzero((grid == LINE).any(axis=1))[0])
    output = np.where(grid == FIGURE, GROUND, grid)
    for figure in objects(np.where(grid == FIGURE, FIGURE, 0)):
        wide = np.flatnonzero(figure.mask.sum(axis=1) > 1)
        if len(wide):
            top = line - 1 - int(wide[-1])
        else:
            top = len(grid) - figure.height
            output[line, figure.left] = GROUND
        paint(output, figure.mask, top, figure.left, FIGURE)
    return output
