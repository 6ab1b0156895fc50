"""The green beam flies on through the orange field; before a sky blue cell it turns to the side that is free, until it
leaves the field. It may cross itself."""

from random import Random

import numpy as np

from rearc2.helpers import SIDES, Grid, Retry, canvas, retrying, scatter, undo_to_top

FIELD, BLOCK, BEAM = 7, 8, 3


def generate(rng: Random) -> tuple[Grid, Grid]:
    side, turns = rng.choice([5, 5, 6, 7, 8, 9, 10, 12, 14, 16]), rng.randint(1, 9)
    return retrying(lambda: _draw(rng, side, min(turns, side - 2)), tries=1000)


def _draw(rng: Random, side: int, turns: int) -> tuple[Grid, Grid]:
    row, column, down, right = -1, rng.randint(1, side - 2), 1, 0
    way: list[tuple[int, int]] = []
    blocks: set[tuple[int, int]] = set()

    def inside(r: int, c: int) -> bool:
        return 0 <= r < side and 0 <= c < side

    for turn in range(turns):
        length = rng.randint(1 + (turn == 0), side - 2)
        start = row, column
        row, column = row + down * length, column + right * length
        ahead = row + down, column + right
        steps = range(1, length + 1)
        way += [(start[0] + down * step, start[1] + right * step) for step in steps]
        down, right = rng.choice([(right, down), (-right, -down)])
        aside = row - down, column - right
        if not (inside(row, column) and inside(*ahead) and inside(*aside)):
            raise Retry
        blocks |= {ahead, aside}  # only one side stays free
        if not blocks.isdisjoint(way):
            raise Retry
    while inside(row + down, column + right):
        row, column = row + down, column + right
        way.append((row, column))
    if not blocks.isdisjoint(way) or len(way) < 1.5 * side:
        raise Retry
    before = canvas(side, side, FIELD)
    before[scatter(rng, before.shape, rng.uniform(0.1, 0.4))] = BLOCK
    for cell in blocks:
        before[cell] = BLOCK
    for cell in way:
        before[cell] = FIELD
    after = before.copy()
    for cell in way:
        after[cell] = BEAM
    before[way[0]] = before[way[1]] = BEAM
    edge = rng.choice(SIDES)  # the one it comes from
    return undo_to_top(before, edge).copy(), undo_to_top(after, edge).copy()


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    first, second = np.argwhere(grid == BEAM).tolist()
    if not {0, grid.shape[0] - 1} & set(first):
        first, second = second, first  # it comes from the border
    down, right = second[0] - first[0], second[1] - first[1]
    framed = np.pad(grid, 1, constant_values=-1)
    row, column = second[0] + 1, second[1] + 1
    while framed[row + down, column + right] != -1:
        if framed[row + down, column + right] == BLOCK:
            sides = [(right, down), (-right, -down)]
            ((down, right),) = [(a, b) for a, b in sides if framed[row + a, column + b] in (FIELD, BEAM)]
        row, column = row + down, column + right
        output[row - 1, column - 1] = BEAM
    return output
