"""All panels show one picture, but in one panel some cells are wiped out. The output is the picture with a blue mark on
each of these cells."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, join, random_cells, split

GREEN, GROUND, MARK = 3, 8, 1
SIDE = COUNT = 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    palette = [0, *rng.sample((2, 4, 6), rng.randint(2, 3))]
    blank = 3 * len(palette) - rng.randint(2, 4)
    picture = random_cells(rng, (SIDE, SIDE), [GROUND] * blank + palette)
    drawn = np.argwhere(picture != GROUND).tolist()
    if not 6 <= len(drawn) <= 10 or set(palette) - set(picture.flat):
        raise Retry
    wiped = rng.sample(drawn, rng.randint(2, 5))
    faulty, marked = picture.copy(), picture.copy()
    for row, column in wiped:
        faulty[row, column], marked[row, column] = GROUND, MARK
    panels = [[picture] * COUNT for _ in range(COUNT)]
    panels[rng.randrange(COUNT)][rng.randrange(COUNT)] = faulty
    return join(panels, GREEN), marked


def verify(grid: Grid) -> Grid:
    panels = np.array([panel for row in split(grid, GREEN) for panel in row])
    picture = np.median(panels, axis=0).astype(np.int64)  # all but one agree
    return np.where((panels != picture).any(axis=0), MARK, picture)
