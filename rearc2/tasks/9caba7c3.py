"""Hidden in the grey and black noise are whole 3x3 squares of grey and red cells with a grey centre. The centre becomes
yellow and the other grey cells of the square orange."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, place, scatter

GREY, RED, CENTRE, REST = 5, 2, 4, 7
SIDE = 19


def generate(rng: Random) -> tuple[Grid, Grid]:
    before = np.where(scatter(rng, (SIDE, SIDE), rng.uniform(0.5, 0.65)), GREY, 0)
    after = before.copy()
    count = rng.randint(3, 6)
    placed = place(rng, before.shape, [(3, 3)] * count)
    for top, left in placed:
        square = np.full((3, 3), GREY)
        ring = [number for number in range(9) if number != 4]
        square.flat[rng.sample(ring, rng.randint(1, 5))] = RED
        before[top : top + 3, left : left + 3] = square
        square[square == GREY] = REST
        square[1, 1] = CENTRE
        after[top : top + 3, left : left + 3] = square
    # No other square may do: one without black and with a grey centre that has just the red cells of a placed one, or
    # red in it and none next to it.
    reds = np.pad(before == RED, 2)
    wholes = [_reds(before, top, left) for top, left in placed]
    for row in range(SIDE - 2):
        for column in range(SIDE - 2):
            square = before[row : row + 3, column : column + 3]
            if square[1, 1] != GREY or (row, column) in placed or not square.all():
                continue
            inside = (square == RED).sum()
            alone = inside == reds[row + 1 : row + 6, column + 1 : column + 6].sum()
            if inside and (alone or _reds(before, row, column) in wholes):
                raise Retry
    return before, after


def _reds(grid: Grid, top: int, left: int) -> list[tuple[int, int]]:
    places = np.argwhere(grid[top : top + 3, left : left + 3] == RED).tolist()
    return [(top + row, left + column) for row, column in places]


def verify(grid: Grid) -> Grid:
    squares: dict[tuple[int, int], set[tuple[int, int]]] = {}  # centre -> places of red
    height, width = grid.shape
    for row in range(1, height - 1):
        for column in range(1, width - 1):
            square = grid[row - 1 : row + 2, column - 1 : column + 2]
            if grid[row, column] != GREY or not square.all():
                continue
            near = grid[max(0, row - 2) : row + 3, max(0, column - 2) : column + 3]
            whole = (square == RED).sum() == (near == RED).sum() > 0
            if whole:
                squares[row, column] = {(row + r, column + c) for r, c in np.argwhere(square == RED).tolist()}
    output = grid.copy()
    for (row, column), reds in squares.items():
        # A square that holds more of the same red cells goes first.
        if not any(reds < others for others in squares.values()):
            part = output[row - 1 : row + 2, column - 1 : column + 2]
            part[part == GREY] = REST
            output[row, column] = CENTRE
    return output
