"""Pink noise covers a regular lattice of dots; the output is the lattice without the noise."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, scatter

NOISE = 6


def generate(rng: Random) -> tuple[Grid, Grid]:
    dot, gap = rng.choice([(1, 1), (1, 2), (2, 1), (1, 3), (2, 2), (3, 1)])
    period = dot + gap
    most = (28 + gap) // period
    counts = rng.randint(max(3, 10 // period), most), rng.randint(max(3, 10 // period), most)
    paper, color = colors(rng, 2, without=(0, NOISE))
    height, width = [count * period - gap + 2 for count in counts]  # a margin of one cell all around
    after = canvas(height, width, paper)
    rows, columns = [((np.arange(length) - 1) % period) < dot for length in after.shape]
    after[np.outer(rows, columns)] = color
    after[[0, -1]], after[:, [0, -1]] = paper, paper
    before = after.copy()
    noise = scatter(rng, after.shape, rng.uniform(0.12, 0.28))
    before[noise] = NOISE
    seen = [~noise[r::period, c::period].all() for r in range(period) for c in range(period)]
    if not noise.any() or not all(seen):
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    for period in range(2, 15):
        output = np.zeros_like(grid)
        for row in range(period):
            for column in range(period):
                clear = np.unique(grid[row::period, column::period])
                clear = clear[clear != NOISE]
                if len(clear) == 1:
                    output[row::period, column::period] = clear[0]
        if ((grid == NOISE) | (grid == output)).all() and output.all():
            return output
    raise ValueError("no lattice fits")
