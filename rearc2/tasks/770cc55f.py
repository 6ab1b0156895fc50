"""The columns that the top bar and the bottom bar share are filled with yellow in one half: between the red line and
the longer bar."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors

LINE, FILLING = 2, 4


def generate(rng: Random) -> tuple[Grid, Grid]:
    half, width = rng.randint(3, 11), rng.randint(4, 15)
    spans = [sorted(rng.sample(range(width + 1), 2)) for _ in range(2)]
    shared = slice(max(start for start, _ in spans), min(end for _, end in spans))
    lengths = [end - start for start, end in spans]
    if shared.start >= shared.stop or lengths[0] == lengths[1] or min(lengths) < 2:
        raise Retry
    (color,) = colors(rng, 1, without=(0, LINE, FILLING))
    before = canvas(2 * half + 1, width)
    before[half] = LINE
    for row, (start, end) in zip((0, -1), spans, strict=True):
        before[row, start:end] = color
    after = before.copy()
    after[slice(1, half) if lengths[0] > lengths[1] else slice(half + 1, -1), shared] = FILLING
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    top, bottom = grid[0] != 0, grid[-1] != 0
    middle = len(grid) // 2
    rows = np.arange(len(grid))[:, None]
    chosen = rows < middle if top.sum() > bottom.sum() else rows > middle
    output[(grid == 0) & chosen & top & bottom] = FILLING
    return output
