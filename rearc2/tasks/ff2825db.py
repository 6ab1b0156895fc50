"""The most common colour inside the frame wins: the frame takes it, and what is inside becomes the outline of the box
around that colour's cells."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, box, canvas, frame, most_common

SIDE = 10
LEGEND = np.repeat([1, 2, 3, 4, 5], 2)


def generate(rng: Random) -> tuple[Grid, Grid]:
    edge, winner, loser = rng.sample(range(1, 6), 3)
    before, after = canvas(SIDE, SIDE), canvas(SIDE, SIDE)
    before[0] = after[0] = LEGEND
    frame(before, 1, 0, SIDE - 1, SIDE, edge)
    frame(after, 1, 0, SIDE - 1, SIDE, winner)
    count = rng.choice([rng.randint(2, 6), rng.randint(2, 30)])
    # The winner's cells lie in some box inside the frame, the other colour anywhere.
    top, bottom = sorted(rng.sample(range(2, SIDE - 1), 2))
    left, right = sorted(rng.sample(range(1, SIDE - 1), 2))
    if rng.random() < 0.5:
        top, bottom = rng.randint(2, 4), rng.randint(SIDE - 4, SIDE - 2)
        left, right = rng.randint(1, 3), rng.randint(SIDE - 4, SIDE - 2)
    area = [(row, column) for row in range(top, bottom + 1) for column in range(left, right + 1)]
    cells = rng.sample(area, min(count, len(area)))
    others = [(row, column) for row in range(2, SIDE - 1) for column in range(1, SIDE - 1)]
    others = [cell for cell in others if cell not in cells]
    for cell in cells:
        before[cell] = winner
    for cell in rng.sample(others, rng.randint(1, min(8, len(cells) - 1))):
        before[cell] = loser
    rows, columns = [row for row, _ in cells], [column for _, column in cells]
    height, width = max(rows) - min(rows) + 1, max(columns) - min(columns) + 1
    if height < 2 or width < 2:
        raise Retry
    frame(after, min(rows), min(columns), height, width, winner)
    return before, after


def verify(grid: Grid) -> Grid:
    inside = grid[2:-1, 1:-1]
    color = most_common(inside, without=(0,))
    output = np.zeros_like(grid)
    output[0] = grid[0]
    frame(output, 1, 0, len(grid) - 1, grid.shape[1], color)
    top, left, height, width = box(inside == color)
    frame(output, 2 + top, 1 + left, height, width, color)
    return output
