"""Every black fork at the border slides along its stem to the opposite border, with what it holds; the stem
disappears. Maroon cells that no fork holds stay."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas

GROUND, FORK, CARGO = 7, 0, 9


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(8, 22)
    before, after = canvas(side, side, GROUND), canvas(side, side, GROUND)
    forks = strays = 0
    loaded = False
    row = 0
    fork_chance = rng.uniform(0.3, 0.9)
    stray_chance = rng.uniform(0.2, 0.9)
    while row < side:
        cargo = rng.choice([0, 1, 1, 2])
        if row + 3 <= side and rng.random() < fork_chance:
            before[row : row + 3, :3] = FORK
            before[row + 1] = FORK
            before[row + 1, :2] = GROUND
            before[row + 1, :cargo] = CARGO
            after[row : row + 3, side - 3 :] = before[row : row + 3, :3]
            forks, loaded = forks + 1, loaded or cargo > 0
            row += 4
        else:
            if rng.random() < stray_chance:
                stray = rng.randint(1, 2)
                before[row, :stray] = after[row, :stray] = CARGO
                strays += 1
            row += 1
    # At least one stray, one load and two forks, as officially.
    if forks < 2 or not strays or not loaded:
        raise Retry
    turns = rng.randrange(4)
    return np.rot90(before, turns).copy(), np.rot90(after, turns).copy()


def verify(grid: Grid) -> Grid:
    for turns in range(4):
        turned = np.rot90(grid, turns)
        output = turned.copy()
        for row in range(len(grid) - 2):
            head, stem = turned[row : row + 3, :3], turned[row + 1, 2:]
            hollow = (head[1, :2] != FORK).all() and (head[::2] == FORK).all()
            if hollow and (stem == FORK).all():
                output[row : row + 3, :3] = GROUND
                output[row + 1, 2:] = GROUND
                output[row : row + 3, -3:] = head
        grid = np.rot90(output, -turns)
        if (output != turned).any():
            break  # all forks point the same way; those moved must not move back
    return grid.copy()
