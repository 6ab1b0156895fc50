"""Grey lines run from border to border and cut the grid into areas. The output is a column of as many black cells as
there are areas, one more than lines."""

from collections.abc import Callable
from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, label, objects, retrying

GREY = 5
INNER, RIM, BLOCKED, OUTSIDE = range(4)  # kinds of cells


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(1, 5)
    least = (3, 6, 7, 9, 10)[count - 1]
    shape = rng.randint(least, least + 5), rng.randint(least, least + 5)
    lines = retrying(lambda: _lines(rng, shape, count), 60)
    return lines * GREY, canvas(count + 1, 1)


def _lines(rng: Random, shape: tuple[int, int], count: int) -> Mask:
    # Plain lists and bits of chance, since most of the many tries fail.
    stride = shape[1] + 2
    inner = [OUTSIDE, RIM, *[INNER] * (shape[1] - 2), RIM, OUTSIDE]
    rim = [OUTSIDE, *[RIM] * shape[1], OUTSIDE]
    cells = [OUTSIDE] * stride + rim + inner * (shape[0] - 2) + rim + [OUTSIDE] * stride
    drawn: list[int] = []
    for _ in range(count):
        for _ in range(20):
            way = _line(rng.getrandbits, rng.random, shape, cells)
            if way:
                break
        else:
            raise Retry
        drawn += way
        for here in way:
            for row in (here - stride, here, here + stride):
                for near in (row - 1, row, row + 1):
                    if cells[near] != OUTSIDE:
                        cells[near] = BLOCKED
    lines = np.zeros((shape[0] + 2, stride), bool)
    lines.ravel()[drawn] = True
    lines = lines[1:-1, 1:-1]
    if label(~lines, diagonal=False)[1] != count + 1:
        raise Retry
    return lines


def _line(
    bits: Callable[[int], int], chance: Callable[[], float], shape: tuple[int, int], cells: list[int]
) -> list[int]:
    """A way from border to border that goes straight or turns, and does not come near itself; empty if it fails.

    The cells come row after row, with a frame; the way is a list of positions in it.
    """
    height, width = shape
    side = _below(bits, 4)  # where it goes first: up, right, down, left
    row = (height - 1, _below(bits, height), 0, _below(bits, height))[side]
    column = (_below(bits, width), 0, _below(bits, width), width - 1)[side]
    stride = width + 2
    steps = (-stride, 1, stride, -1)
    here = (row + 1) * stride + column + 1
    turn = side
    way: dict[int, None] = {}  # in order
    while cells[here] != OUTSIDE:
        if cells[here] == BLOCKED or here in way:
            return []
        if (here - stride in way) + (here + stride in way) + (here - 1 in way) + (here + 1 in way) > 1:
            return []
        way[here] = None
        if len(way) > 1:
            if cells[here] == RIM and chance() < 0.7:
                break
            if chance() < 0.65:
                turn = (side + _below(bits, 3) - 1) % 4  # never straight back
        here += steps[turn]
    return list(way) if len(way) > min(height, width) // 2 + 1 else []


def _below(bits: Callable[[int], int], count: int) -> int:
    """A number from 0 to count - 1."""
    length = count.bit_length()
    number = bits(length)
    while number >= count:
        number = bits(length)
    return number


def verify(grid: Grid) -> Grid:
    return canvas(len(objects(grid)) + 1, 1)


def rival_areas(grid: Grid) -> Grid:
    """Counts the areas themselves."""
    return canvas(label(grid == 0, diagonal=False)[1], 1)
