"""Each red rod has a grey end and a black joint. The part beyond the joint is turned by a quarter around it, towards
the farther side of the grid."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, grow

GROUND, JOINT, ROD, END = 7, 0, 2, 5
STEPS = [(-1, 0), (0, 1), (1, 0), (0, -1)]


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = 2 * rng.randint(4, 11)
    most = max(1, side // 2 - 1)
    before, after = canvas(side, side, GROUND), canvas(side, side, GROUND)
    for _ in range(max(rng.randint(1, most), rng.randint(1, most))):
        _add_rod(rng, before, after)
    if (before == GROUND).all():
        raise Retry
    return before, after


def _add_rod(rng: Random, before: Grid, after: Grid) -> None:
    """Draws a rod where it neither touches nor will touch another; gives up after some tries."""
    side = len(before)
    taken = grow((before != GROUND) | (after != GROUND), diagonal=False)
    for _ in range(20):
        across, joint = rng.randrange(side), rng.randrange(side)  # of an upright rod with its end on top
        kept = rng.randint(1, min(6, side // 2))  # cells from the joint to the end
        beyond = rng.randint(1, rng.choice([2, min(5, side // 2)]))
        if joint - kept < 0 or joint + beyond >= side:
            continue
        inwards = 1 if across < side // 2 else -1
        old, new = canvas(side, side, GROUND), canvas(side, side, GROUND)
        old[joint - kept : joint + beyond + 1, across] = ROD
        new[joint - kept : joint, across] = ROD
        new[joint, [across + inwards * step for step in range(1, beyond + 1)]] = ROD
        for grid in (old, new):
            grid[joint - kept, across], grid[joint, across] = END, JOINT
        turns = rng.randrange(4)
        old, new = np.rot90(old, turns), np.rot90(new, turns)
        if not (taken & ((old != GROUND) | (new != GROUND))).any():
            before[old != GROUND] = old[old != GROUND]
            after[new != GROUND] = new[new != GROUND]
            return


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    side = len(grid)
    for row, column in np.argwhere(grid == JOINT).tolist():
        arms = {step: _arm(grid, (row, column), step) for step in STEPS}
        ((down, right),) = [
            step for step, places in arms.items() if any(grid[place] == END for place in places)
        ]
        loose = arms[-down, -right]
        for place in loose:
            output[place] = GROUND
        turned = (0, 1 if column < side / 2 else -1) if down else (1 if row < side / 2 else -1, 0)
        for distance in range(1, len(loose) + 1):
            output[row + distance * turned[0], column + distance * turned[1]] = ROD
    return output


def _arm(grid: Grid, start: tuple[int, int], step: tuple[int, int]) -> list[tuple[int, int]]:
    """The places of the rod from the joint on in one direction, up to and with its end."""
    places = []
    row, column = start[0] + step[0], start[1] + step[1]
    while 0 <= row < len(grid) and 0 <= column < len(grid) and grid[row, column] in (ROD, END):
        places.append((row, column))
        row, column = row + step[0], column + step[1]
    return places
