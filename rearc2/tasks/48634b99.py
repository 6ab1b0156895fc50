"""Half of one bar is maroon. The maroon leaves it for the bar that is two cells longer, and covers the same half
(upper or lower) there."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, fill, objects, place

BACKGROUND, BAR, MARK = 7, 8, 9
SIDE = 16


def generate(rng: Random) -> tuple[Grid, Grid]:
    # One bar of each longer kind, so that there is one that is next longer; short ones fill up.
    lengths = [10, 8, 6, 4] + [2] * rng.randint(5, 14)
    bars = list(zip(lengths, place(rng, (SIDE, SIDE), [(length, 1) for length in lengths]), strict=True))
    before = canvas(SIDE, SIDE, BACKGROUND)
    for length, (top, left) in bars:
        fill(before, top, left, length, 1, BAR)
    after = before.copy()
    source = rng.randint(1, 4)
    lower = rng.random() < 0.5
    for grid, (length, (top, left)) in ((before, bars[source]), (after, bars[source - 1])):
        fill(grid, top + (length // 2 if lower else 0), left, length // 2, 1, MARK)
    return before, after


def verify(grid: Grid) -> Grid:
    output = np.where(grid == MARK, BAR, grid)
    bars = objects(output, background=BACKGROUND)
    (source,) = [bar for bar in bars if (grid[bar.slices] == MARK).any()]
    (target,) = [bar for bar in bars if bar.height == source.height + 2]
    half = target.height // 2
    upper = grid[source.top, source.left] == MARK
    fill(output, target.top if upper else target.top + half, target.left, half, 1, MARK)
    return output
