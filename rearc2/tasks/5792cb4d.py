"""The colours along the winding path are put in reverse order; the path stays where it is."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors

SKY = 8
SIDE = 10


def generate(rng: Random) -> tuple[Grid, Grid]:
    path = _path(rng, rng.randint(7, 36))
    palette = colors(rng, rng.randint(5, 7), without=(0, 3, SKY))
    beads: list[int] = []
    while len(beads) < len(path):  # some beads follow one another in one colour
        beads += [rng.choice(palette)] * rng.choice([1, 1, 1, 1, 1, 2, 3])
    beads = beads[: len(path)]
    if beads == beads[::-1]:
        raise Retry
    before, after = canvas(SIDE, SIDE, SKY), canvas(SIDE, SIDE, SKY)
    for place, first, last in zip(path, beads, reversed(beads), strict=True):
        before[place], after[place] = first, last
    return before, after


def _path(rng: Random, length: int) -> list[tuple[int, int]]:
    """A path that keeps off the border and nowhere touches itself over an edge."""
    path = [(rng.randint(1, SIDE - 2), rng.randint(1, SIDE - 2))]
    down, right = 0, 1
    while len(path) < length:
        row, column = path[-1]
        turns = [(down, right)] * 3 + [(0, 1), (1, 0), (0, -1), (-1, 0)]
        rng.shuffle(turns)
        for down, right in turns:
            r, c = row + down, column + right
            near = sum(abs(r - a) + abs(c - b) <= 1 for a, b in path)
            if 0 < r < SIDE - 1 and 0 < c < SIDE - 1 and near == 1:
                path.append((r, c))
                break
        else:
            raise Retry
    return path


def verify(grid: Grid) -> Grid:
    left = {(int(r), int(c)) for r, c in np.argwhere(grid != SKY)}
    here = min(place for place in left if len(_beside(place) & left) == 1)
    path = [here]
    left.remove(here)
    while left:
        (here,) = _beside(here) & left
        path.append(here)
        left.remove(here)
    output = grid.copy()
    for place, other in zip(path, reversed(path), strict=True):
        output[place] = grid[other]
    return output


def _beside(place: tuple[int, int]) -> set[tuple[int, int]]:
    row, column = place
    return {(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)}
