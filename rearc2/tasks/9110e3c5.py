"""The most frequent colour stands for a sign: blue, red and green have one each. The output shows it in sky blue."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, most_common, random_cells

SIGNS = {1: ("..#", "##.", ".#."), 2: ("...", "###", "..."), 3: (".##", ".#.", ".#.")}
INK = 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    color = rng.choice(list(SIGNS))
    noise = rng.sample(range(1, 10), rng.randint(5, 9))
    before = random_cells(rng, (7, 7), [0] * 18 + [color] * rng.randint(9, 15) + noise)
    counts = sorted(np.bincount(before[before > 0], minlength=10).tolist())
    if (before == color).sum() != counts[-1] or counts[-1] < counts[-2] + 3:
        raise Retry
    after = [[INK if cell == "#" else 0 for cell in row] for row in SIGNS[color]]
    return before, np.array(after)


def verify(grid: Grid) -> Grid:
    sign = SIGNS[most_common(grid, without=(0,))]
    return np.where(np.array([list(row) for row in sign]) == "#", INK, 0)
