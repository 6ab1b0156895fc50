"""Two cells of one colour are joined by a line of that colour; vertical lines run over horizontal ones."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, line


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.choice([(20, 10), (30, 20), (20, 20), (rng.randint(12, 30), rng.randint(10, 30))])
    before, across, upright = (canvas(height, width) for _ in range(3))
    most = min(9, height * width // 35)
    for color in colors(rng, rng.randint(min(4, most), most)):
        _join(rng, before, across, upright, color)
    if not ((across != 0) & (upright != 0)).any():
        raise Retry  # no crossing: which lines run on top does not show
    after = np.where(upright != 0, upright, across)
    return before, after


def _join(rng: Random, before: Grid, across: Grid, upright: Grid, color: int) -> None:
    """Two cells and their line, away from all other lines but for crossings, which are not at an end."""
    height, width = before.shape
    for _ in range(50):
        r, c = rng.randrange(1, height - 1), rng.randrange(1, width - 1)
        if rng.random() < 0.5:
            layer, start, end = across, (r, c), (r, rng.randrange(1, width - 1))
        else:
            layer, start, end = upright, (r, c), (rng.randrange(1, height - 1), c)
        if abs(end[0] - start[0]) + abs(end[1] - start[1]) < 3:
            continue
        new = canvas(height, width)
        line(new, start, end, color)
        ends = canvas(height, width)
        ends[start] = ends[end] = color
        others = (across != 0) | (upright != 0)
        if (others & (ends != 0)).any() or ((new != 0) & ((layer != 0) | (before != 0))).any():
            continue
        layer += new
        before += ends
        return
    raise Retry


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    pairs = [np.argwhere(grid == color).tolist() for color in np.unique(grid[grid != 0])]
    for start, end in sorted(pairs, key=lambda pair: pair[0][1] == pair[1][1]):  # vertical lines last
        line(output, tuple(start), tuple(end), int(grid[start[0], start[1]]))
    return output
