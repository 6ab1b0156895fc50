"""The bars, each two cells wide, are sorted by their notches: the one with most of them comes first."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, join, split

BARS, HEIGHT = 5, 13


def generate(rng: Random) -> tuple[Grid, Grid]:
    color = rng.randint(1, 9)
    bars = []
    for count in sorted(rng.sample(range(1, 7), BARS), reverse=True):
        bar = canvas(HEIGHT, 2, color)
        bar[rng.sample(range(1, HEIGHT, 2), count), 1] = 0
        bars.append(bar)
    mixed = rng.sample(bars, BARS)
    if all(bar is other for bar, other in zip(bars, mixed, strict=True)):
        raise Retry
    return join([mixed], 0), join([bars], 0)


def verify(grid: Grid) -> Grid:
    (bars,) = split(grid, 0)
    return join([sorted(bars, key=np.count_nonzero)], 0)
