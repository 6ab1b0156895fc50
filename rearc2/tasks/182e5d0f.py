"""From every head at the border, between two black cells, comes a green tongue. If its tip touches a grey cell, the
tongue draws back and only the grey cell remains, next to the head; else nothing happens."""

from random import Random

import numpy as np

from rearc2.helpers import SIDES, Grid, Mask, canvas, grow, label, to_top

GROUND, JAW, TONGUE, PREY = 7, 0, 3, 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(8, 20)
    before, after = canvas(side, side, GROUND), canvas(side, side, GROUND)
    taken = np.zeros(before.shape, bool)
    wanted = rng.choice([1, 2, 3, 3, 4, 4, 5])
    drawn = 0
    for _ in range(30):
        if drawn == wanted:
            break
        turn, mirror = rng.choice(SIDES), rng.choice([1, -1])
        old, new, near = (to_top(grid, turn)[:, ::mirror] for grid in (before, after, taken))
        # Seen this way the tongue comes down from the top, then runs right: to the border or not quite.
        head, depth = rng.randint(1, side - 2), rng.choice([1, 1, 1, 2])
        prey = depth + (1 if head > side - 4 else rng.choice([1, 1, -1])), side - 1
        place = np.zeros(near.shape, bool)
        place[0, head - 1 : head + 2] = place[: depth + 1, head] = place[depth, head:] = place[prey] = True
        if (place & near).any():
            continue
        near |= grow(place)
        for grid in (old, new):
            grid[0, head - 1 : head + 2] = JAW
            grid[: depth + 1, head] = TONGUE
            grid[prey] = PREY
        catches = drawn == 0 or head == side - 2 or rng.random() < 0.5
        tip = side if catches else rng.randint(head + 2, side - 1)
        old[depth, head:tip] = new[depth, head:tip] = TONGUE
        if catches:
            new[1 : depth + 1, head] = new[depth, head:] = new[prey] = GROUND
            new[1, head] = PREY
        drawn += 1
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for tongue in _tongues(grid):
        if (grow(tongue, diagonal=False) & (grid == PREY)).any():
            _draw_back(output, tongue)
    return output


def rival(grid: Grid) -> Grid:
    """The tongues draw back whose tips have reached the border, as their heads have anyway."""
    output = grid.copy()
    for tongue in _tongues(grid):
        if tongue.sum() - tongue[1:-1, 1:-1].sum() > 1:
            _draw_back(output, tongue)
    return output


def _tongues(grid: Grid) -> list[Mask]:
    numbers, count = label(grid == TONGUE, diagonal=False)
    return [numbers == number for number in range(1, count + 1)]


def _draw_back(grid: Grid, tongue: Mask) -> None:
    jaws = np.pad(grid == JAW, 1).astype(int)
    head = tongue & (jaws[:-2, 1:-1] + jaws[2:, 1:-1] + jaws[1:-1, :-2] + jaws[1:-1, 2:] == 2)
    neck = grow(head, diagonal=False) & tongue & ~head
    grid[grow(tongue, diagonal=False) & (grid == PREY)] = GROUND
    grid[tongue & ~head] = GROUND
    grid[neck] = PREY
