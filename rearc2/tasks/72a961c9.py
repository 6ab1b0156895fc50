"""On every coloured dot of the blue ground line stands a blue stalk with a dot of the same colour on top: 3 cells
above the ground for sky blue, 4 for red."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, line

GROUND, RED, SKY = 1, 2, 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(7, 20), rng.randint(5, 20)
    ground = rng.randint(4, height - 2)
    before = canvas(height, width)
    before[ground] = GROUND
    count = rng.randint(1, width // 3)
    columns: list[int] = []
    for column in rng.sample(range(1, width - 1), width - 2):
        # Stalks stand apart, so that each can be told from its neighbours.
        if len(columns) < count and all(abs(column - other) > 1 for other in columns):
            columns.append(column)
    after = before.copy()
    for column in columns:
        color, stalk = rng.choice([(SKY, 3), (RED, 4)])
        line(after, (ground, column), (ground - stalk, column), GROUND)
        before[ground, column] = after[ground, column] = after[ground - stalk, column] = color
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for row, column in np.argwhere((grid == RED) | (grid == SKY)).tolist():
        top = row - 3 - (grid[row, column] == RED)
        output[top + 1 : row, column] = GROUND
        output[top, column] = grid[row, column]
    return output
