"""Two pairs of upright strokes spread up and down: above and below, each stroke goes on with pieces of its own length,
each one column further outwards, as far as the grid goes. Cells of both pairs are magenta."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, objects

PAIRS, BOTH = (3, 8), 6


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(16, 28), rng.randint(14, 24)
    before = canvas(height, width)
    covered = {color: np.zeros(before.shape, bool) for color in PAIRS}
    spans = []
    for color in PAIRS:
        length, gap = rng.randint(1, 5), rng.randint(2, 5)
        top, left = rng.randint(0, height - length), rng.randint(2, width - gap - 3)
        spans.append((left - 1, left + gap + 1))
        for column, step in ((left, -1), (left + gap, 1)):
            before[top : top + length, column] = color
            for row in range(height):
                # Pieces from the stroke: 0 for itself, 1 for the next one above or below, and so on.
                piece = abs((row - top) // length)
                if 0 <= column + step * piece < width:
                    covered[color][row, column + step * piece] = True
    if spans[0][0] <= spans[1][1] and spans[1][0] <= spans[0][1]:  # side by side
        raise Retry
    green, sky = covered[PAIRS[0]], covered[PAIRS[1]]
    after = np.select([green & sky, green, sky], [BOTH, *PAIRS])
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    height, width = grid.shape
    for color in PAIRS:
        pair = [thing for thing in objects(grid) if thing.color == color]
        pair.sort(key=lambda thing: thing.left)
        for stroke, step in zip(pair, (-1, 1), strict=True):
            for direction in (-1, 1):
                top, column = stroke.top + direction * stroke.height, stroke.left + step
                while -stroke.height < top < height and 0 <= column < width:
                    part = output[max(0, top) : top + stroke.height, column]
                    part[:] = np.where((part == 0) | (part == color), color, BOTH)
                    top, column = top + direction * stroke.height, column + step
    return output
