"""A red beam runs to the right from its start at the left border. Before a coloured cell it stops and goes on from
there to both sides; those beams do the same, until all end at the border."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, ray

RED = 2
OBSTACLES = [3, 6, 7, 8]
WRONG = {"train 1": "the beams that are stopped at (1, 3) and (10, 4) do not go on to both sides"}


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.choice([4, 6, 8, 9, 10, 12, 13, 14]), rng.choice([6, 6, 8, 10, 12, 13, 14])
    before = canvas(height, width)
    start = rng.randint(1, height - 2)
    before[start, 0] = RED
    before[start, 1] = RED  # keeps the first step free; erased below
    density = rng.uniform(0.03, 0.17)
    for row in range(height):
        for column in range(width):
            if before[row, column] == 0 and rng.random() < density:
                before[row, column] = rng.choice(OBSTACLES)
    before[start, 1] = 0
    after = before.copy()
    splits = 0
    seen = set()
    beams = [((start, 0), (0, 1))]
    while beams:
        place, step = beams.pop()
        if (place, step) in seen:
            continue
        seen.add((place, step))
        row, column = place[0] + step[0], place[1] + step[1]
        while 0 <= row < height and 0 <= column < width:
            if before[row, column] not in (0, RED):
                corner = row - step[0], column - step[1]
                beams += [(corner, (step[1], step[0])), (corner, (-step[1], -step[0]))]
                splits += 1
                break
            after[row, column] = RED
            row, column = row + step[0], column + step[1]
    if splits < 1 + (height * width > 50) or (after == RED).sum() < 6:
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    height, width = grid.shape
    lit = np.zeros((height, width, 2), bool)  # places a beam has left along its row, along its column
    ((row, column),) = np.argwhere(grid == RED).tolist()
    output = np.where(grid == RED, 0, grid)
    walls = output.copy()
    output[row, column] = RED

    def beam(row: int, column: int, down: int, right: int) -> None:
        track = walls.copy()
        drawn = ray(track, (row, column), (down, right), RED)
        for place in drawn:
            output[place] = RED
        row, column = drawn[-1] if drawn else (row, column)
        inside = 0 <= row + down < height and 0 <= column + right < width
        if inside and not lit[row, column, down]:
            lit[row, column, down] = True
            beam(row, column, right, down)
            beam(row, column, -right, -down)

    beam(row, column, 0, 1)
    return output
