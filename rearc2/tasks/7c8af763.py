"""Grey lines divide the picture into rooms. Each room is filled with blue or red, whichever has more dots on the lines
around it."""

from itertools import pairwise
from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, label

LINE, DOTS = 5, (1, 2)


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = (10, 10) if rng.random() < 0.4 else (rng.randint(8, 16), rng.randint(9, 16))
    # Lines at the top and the bottom; the rooms at the left and the right end at the border.
    rows = [0, *_between(rng, height, rng.randint(1, height // 5)), height - 1]
    columns = [-1, *_between(rng, width, rng.randint(2, 3 if width > 11 else 2)), width]
    before = canvas(height, width)
    before[rows] = before[:, columns[1:-1]] = LINE
    rooms = [
        (top, bottom, left, right) for top, bottom in pairwise(rows) for left, right in pairwise(columns)
    ]
    for room in rooms:
        for segment in _around(before, room):
            for place in rng.sample(range(len(segment)), rng.choice([0, 1, 1])):
                segment[place] = rng.choice(DOTS)
    # While dots around a room are equal in number, one cell there is drawn anew.
    for _ in range(200):
        tied = [room for room in rooms if not _lead(before, room)]
        if not tied:
            break
        segment = rng.choice(_around(before, rng.choice(tied)))
        segment[rng.randrange(len(segment))] = rng.choice([LINE, *DOTS])
    else:
        raise Retry
    after = before.copy()
    for top, bottom, left, right in rooms:
        after[top + 1 : bottom, left + 1 : right] = DOTS[_lead(before, (top, bottom, left, right)) < 0]
    return before, after


def _around(grid: Grid, room: tuple[int, int, int, int]) -> list[Grid]:
    """The pieces of line around a room, without the crossings, as views of the grid."""
    top, bottom, left, right = room
    pieces = [grid[top, left + 1 : right], grid[bottom, left + 1 : right]]
    return pieces + [grid[top + 1 : bottom, side] for side in (left, right) if 0 <= side < grid.shape[1]]


def _lead(grid: Grid, room: tuple[int, int, int, int]) -> int:
    """How many more blue dots than red ones are around a room."""
    dots = np.concatenate(_around(grid, room))
    return int((dots == DOTS[0]).sum()) - int((dots == DOTS[1]).sum())


def _between(rng: Random, length: int, count: int) -> list[int]:
    lines = sorted(rng.sample(range(2, length - 2), count))
    if any(b - a < 3 for a, b in pairwise([-1, *lines, length])):
        raise Retry
    return lines


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    rooms, count = label(grid == 0, diagonal=False)
    for number in range(1, count + 1):
        room = np.pad(rooms == number, 1)
        around = room[:-2, 1:-1] | room[2:, 1:-1] | room[1:-1, :-2] | room[1:-1, 2:]
        blue, red = (int((grid[around] == color).sum()) for color in DOTS)
        output[rooms == number] = DOTS[red > blue]
    return output
