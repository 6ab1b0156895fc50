"""The green cells at the right edge slide to the left until a sky blue cell, the edge or another one stops them."""

from random import Random

from rearc2.helpers import Grid, canvas, scatter

GREEN, WALL = 3, 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(6, 14), rng.randint(6, 14)
    before = canvas(height, width)
    before[scatter(rng, before.shape, rng.uniform(0.25, 0.5))] = WALL
    after = before.copy()
    row = rng.randint(0, 3)
    while row < height:
        # A block of green rows, then some rows without.
        tall, thick = rng.randint(1, 4), rng.randint(1, 3 if width > 9 else 2)
        for at in range(row, min(row + tall, height)):
            before[at, width - thick :] = GREEN
            after[at, width - thick :] = 0
            column = width - thick
            while column and before[at, column - 1] == 0:
                column -= 1
            after[at, column : column + thick] = GREEN
        row += tall + rng.randint(1, 4)
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for row in output:
        for column in range(1, len(row)):
            while column and row[column] == GREEN and row[column - 1] == 0:
                row[column - 1 : column + 1] = GREEN, 0
                column -= 1
    return output
