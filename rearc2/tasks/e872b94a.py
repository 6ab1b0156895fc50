"""Grey lines run from border to border and cut the grid into areas. The output is a column of as many black cells as
there are areas, one more than lines."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, grow, label, objects, retrying

GREY = 5
STEPS = ((-1, 0), (0, 1), (1, 0), (0, -1))


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(1, 5)
    least = (3, 6, 7, 9, 10)[count - 1]
    shape = rng.randint(least, least + 5), rng.randint(least, least + 5)
    lines = retrying(lambda: _lines(rng, shape, count), 60)
    return lines * GREY, canvas(count + 1, 1)


def _lines(rng: Random, shape: tuple[int, int], count: int) -> Mask:
    lines = np.zeros(shape, bool)
    for _ in range(count):
        blocked = grow(lines)
        lines |= retrying(lambda blocked=blocked: _line(rng, blocked), 20)
    if label(~lines, diagonal=False)[1] != count + 1:
        raise Retry
    return lines


def _line(rng: Random, blocked: Mask) -> Mask:
    """A way from border to border that goes straight or turns, and does not come near itself."""
    height, width = blocked.shape
    side = rng.randrange(4)
    row = (height - 1, rng.randrange(height), 0, rng.randrange(height))[side]
    column = (rng.randrange(width), 0, rng.randrange(width), width - 1)[side]
    turn = side
    way: dict[tuple[int, int], None] = {}  # in order
    while True:
        if blocked[row, column] or (row, column) in way:
            raise Retry
        near = (
            (row - 1, column) in way,
            (row + 1, column) in way,
            (row, column - 1) in way,
            (row, column + 1) in way,
        )
        if sum(near) > 1:
            raise Retry
        way[row, column] = None
        if len(way) > 1 and (row in (0, height - 1) or column in (0, width - 1)) and rng.random() < 0.7:
            break
        if len(way) > 1 and rng.random() < 0.65:
            turn = (side + rng.choice((-1, 0, 1))) % 4  # never straight back
        row, column = row + STEPS[turn][0], column + STEPS[turn][1]
        if not (0 <= row < height and 0 <= column < width):
            break
    if len(way) <= min(height, width) // 2 + 1:
        raise Retry
    mask = np.zeros(blocked.shape, bool)
    mask[tuple(np.transpose(list(way)))] = True
    return mask


def verify(grid: Grid) -> Grid:
    return canvas(len(objects(grid)) + 1, 1)


def rival_areas(grid: Grid) -> Grid:
    """Counts the areas themselves."""
    return canvas(label(grid == 0, diagonal=False)[1], 1)
