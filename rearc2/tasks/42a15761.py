"""The vertical strips are put in order by the number of their holes, the fewest at the left."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, join, split

STRIP = 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(3, 7)  # of strips, of places for holes, and of the most holes
    strips = []
    for holes in range(1, count + 1):
        strip = np.full((2 * count + 1, 3), STRIP)
        for place in rng.sample(range(count), holes):
            strip[2 * place + 1, 1] = 0
        strips.append(strip)
    mixed = rng.sample(strips, count)
    if all(one is other for one, other in zip(mixed, strips, strict=True)):
        raise Retry
    return join([mixed], 0), join([strips], 0)


def verify(grid: Grid) -> Grid:
    (strips,) = split(grid, 0)
    return join([sorted(strips, key=lambda strip: int((strip == 0).sum()))], 0)
