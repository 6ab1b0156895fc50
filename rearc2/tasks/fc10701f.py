"""The orange block goes along the track to the place of the maroon one, which disappears. Where it passes between two
black sleepers the gap becomes red."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, mostly

PAPER, SLEEPER, BLOCK, GOAL, PASSED = 6, 0, 7, 9, 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    # Drawn with an upright track and the block above the goal, then turned.
    side, thick = mostly(rng, 8, 16, 28), rng.choice([1, 2, 2, 3, 4])
    left = rng.randint(2, side - thick - 2) if side > thick + 4 else 2
    start = rng.randint(0, side // 3)
    goal = rng.randint(start + thick + 1, side - thick) if start + 2 * thick + 1 <= side else side
    if goal + thick > side or left + thick + 2 > side:
        raise Retry
    before = canvas(side, side, PAPER)
    sleepers, row = [], rng.randint(0, 2)
    while row < side:
        if not start - 1 <= row <= start + thick:
            sleepers.append(row)
        row += rng.choice([2, 2, 2, 3, 4])
    sleepers = [row for row in sleepers if row > start] if rng.random() < 0.7 else sleepers
    sleepers = sleepers[: rng.randint(2, len(sleepers))] if len(sleepers) > 2 else sleepers
    before[sleepers, left - 2 : left] = SLEEPER
    before[sleepers, left + thick : left + thick + 2] = SLEEPER
    after = before.copy()
    before[start : start + thick, left : left + thick] = BLOCK
    before[goal : goal + thick, left : left + thick] = GOAL
    passed = [row for row in sleepers if start < row < goal]
    after[passed, left : left + thick] = PASSED
    after[goal : goal + thick, left : left + thick] = BLOCK
    if len(passed) < rng.choice((1, 2, 2, 3)):
        raise Retry
    turns = rng.randrange(4)
    return np.rot90(before, turns).copy(), np.rot90(after, turns).copy()


def verify(grid: Grid) -> Grid:
    rows, goal_rows = [np.flatnonzero((grid == color).any(axis=1)) for color in (BLOCK, GOAL)]
    columns = np.flatnonzero((grid == BLOCK).any(axis=0))
    if not np.array_equal(columns, np.flatnonzero((grid == GOAL).any(axis=0))):
        return verify(grid.T).T
    output = np.where(grid == BLOCK, PAPER, np.where(grid == GOAL, BLOCK, grid))
    first, last = min(rows[-1], goal_rows[-1]) + 1, max(rows[0], goal_rows[0])
    for row in range(first, last):
        if grid[row, columns[0] - 1] == SLEEPER and grid[row, columns[-1] + 1] == SLEEPER:
            output[row, columns] = PASSED
    return output
