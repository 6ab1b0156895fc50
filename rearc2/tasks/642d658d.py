"""Among noise on a black-dotted ground lie crosses: a yellow cell between four cells of one colour. The output is the
colour that most crosses have."""

from collections import Counter
from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, colors, place, scatter

CENTRE = 4
ARMS = ((-1, 0), (1, 0), (0, -1), (0, 1))


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(16, 30), rng.randint(16, 30)
    ground, *shades = colors(rng, rng.randint(3, 6), without=(0, CENTRE))
    counts = [rng.randint(1, 3) for _ in shades]
    if sorted(counts)[-1] == sorted(counts)[-2]:
        raise Retry
    grid = np.where(_dots(rng, height, width), 0, ground)
    noisy = scatter(rng, grid.shape, rng.uniform(0.01, 0.12))
    for row, column in np.argwhere(noisy).tolist():
        grid[row, column] = rng.choice(shades)
    crosses = [shade for shade, count in zip(shades, counts, strict=True) for _ in range(count)]
    for shade, (top, left) in zip(
        crosses, place(rng, grid.shape, [(3, 3)] * len(crosses), gap=0), strict=True
    ):
        grid[top + 1, left : left + 3] = grid[top : top + 3, left + 1] = shade
        grid[top + 1, left + 1] = CENTRE
    return grid, canvas(1, 1, shades[counts.index(max(counts))])


def _dots(rng: Random, height: int, width: int) -> Mask:
    """Where some rows meet some columns, with mistakes."""
    rows = scatter(rng, (height, 1), rng.uniform(0.25, 0.45))
    columns = scatter(rng, (1, width), rng.uniform(0.35, 0.55))
    return (rows & columns) ^ scatter(rng, (height, width), rng.uniform(0, 0.06))


def verify(grid: Grid) -> Grid:
    crosses: Counter[int] = Counter()
    for row, column in np.argwhere(grid[1:-1, 1:-1] == CENTRE).tolist():
        shades = {int(grid[row + 1 + down, column + 1 + right]) for down, right in ARMS}
        if len(shades) == 1:
            crosses[shades.pop()] += 1
    ((winner, _),) = crosses.most_common(1)
    return canvas(1, 1, winner)
