"""Three storeys, each with a ceiling of its colour and perhaps a ladder that hangs from it, above a maroon floor on
which a grey dot stands. Row i of the output has storey i's colour once per rung, then maroon; grey marks the highest
ceiling that the dot reaches, climbing from storey to storey as long as the ladder comes down to the floor."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors

DOT, FLOOR = 5, 9
SIDE, STOREYS, MOST = 21, 3, 3  # the most rungs a ladder has


def generate(rng: Random) -> tuple[Grid, Grid]:
    before, after = canvas(SIDE, SIDE), canvas(STOREYS, MOST + 2)
    after[:, MOST] = FLOOR
    # From the bottom up to this storey all ladders can be climbed; the next one is too short or missing.
    reached = rng.randrange(STOREYS)
    after[reached, MOST + 1] = DOT
    top = rng.randint(0, 3)
    for storey, color in enumerate(colors(rng, STOREYS, without=(0, DOT, FLOOR))):
        if storey >= reached:
            rungs, gap = rng.randint(1, MOST), 0
        elif storey == reached - 1:
            rungs, gap = rng.choice([0, 1, 1, 2, 2, 3]), rng.randint(1, 2)
        else:
            rungs, gap = rng.randint(0, MOST), rng.randint(0, 1)
        before[top] = color
        after[storey, :rungs] = color
        tall = 2 * rungs + 1 if rungs else rng.randint(2, 4)
        if top + 1 + tall + gap >= SIDE:
            raise Retry
        if rungs:
            left = rng.randint(1, SIDE - 4)
            ladder = before[top + 1 : top + 1 + tall, left : left + 3]
            ladder[:] = color
            ladder[::2, 1] = 0
        top += 1 + tall + gap
    if top < SIDE - 3:
        raise Retry  # too much room below
    before[top] = FLOOR
    # The dot stands beside the ladder, not in it.
    ladder_columns = np.flatnonzero(before[top - 1]).tolist()
    free = [at for at in range(1, SIDE - 1) if not ladder_columns[0] <= at <= ladder_columns[-1]]
    before[top - 1, rng.choice(free)] = DOT
    return before, after


def verify(grid: Grid) -> Grid:
    lines = np.flatnonzero((grid != 0).all(axis=1)).tolist()
    output = np.zeros((STOREYS, MOST + 2), int)
    output[:, MOST] = FLOOR
    climbing = True
    for storey in reversed(range(STOREYS)):
        ceiling, floor = lines[storey], lines[storey + 1]
        color = grid[ceiling, 0]
        ladder = (grid[ceiling + 1 : floor] == color).sum(axis=1)  # cells per row: a rung has three, else two
        output[storey, : (ladder == 3).sum()] = color
        climbing = climbing and ladder[-1] > 0
        if climbing:
            output[:, MOST + 1] = 0
            output[storey, MOST + 1] = DOT
    return output
