"""The grey dot moves straight to the black figure and then slides on diagonally, stair by stair, as long as the next
stair is one cell high and one cell wide; at the end of the figure it stops beside the last stair."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, symmetries

GROUND, BLACK, GREY = 7, 0, 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    # Drawn so that the dot falls down the left border and slides to the right.
    height, width = rng.randint(5, 16), rng.randint(5, 16)
    stairs = rng.choice([0, 1, 2, 2, 3, 3, 4, 4, 5, 6])
    first = rng.randint(2, height - 2)
    tops = [first + number for number in range(stairs + 1)]
    goes_on = stairs == 0 or rng.random() < 0.6
    if goes_on:
        tops.append(tops[-1])  # a stair two cells wide, which stops the dot
        for _ in range(rng.randint(0, 5)):
            tops.append(tops[-1] + rng.randint(0, 1))
    bottom = rng.randint(max(first, height - 3), height - 1)
    scene = canvas(height, width, GROUND)
    if len(tops) > width - 1:
        raise Retry
    for c, top in enumerate(tops):
        if top > bottom:
            raise Retry
        scene[top : bottom + 1, c] = BLACK
        bottom -= rng.random() < 0.2
    before, after = scene.copy(), scene.copy()
    before[rng.randint(0, first - 2), 0] = GREY
    end = stairs if goes_on else stairs + 1
    after[first - 1 + end, end] = GREY
    image = rng.randrange(8)
    return symmetries(before)[image], symmetries(after)[image]


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    ((r, c),) = np.argwhere(grid == GREY).tolist()
    output[r, c] = GROUND

    def at(row: int, column: int) -> int | None:
        inside = 0 <= row < grid.shape[0] and 0 <= column < grid.shape[1]
        return int(grid[row, column]) if inside else None

    rows, columns = np.nonzero(grid == BLACK)
    if r in rows:
        down, right = 0, 1 if columns[rows == r].min() > c else -1
    else:
        down, right = 1 if rows[columns == c].min() > r else -1, 0
    while at(r + down, c + right) != BLACK:
        r, c = r + down, c + right
    for aside_down, aside_right in (right, down), (-right, -down):
        step_down, step_right = down + aside_down, right + aside_right
        while at(r + down, c + right) == BLACK and at(r + step_down, c + step_right) in (GROUND, GREY):
            r, c = r + step_down, c + step_right
    output[r, c] = GREY
    return output
