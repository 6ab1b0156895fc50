"""Two grey marks lie beside a corner, on one side of the grid: one above the other they choose between the upper and
the lower half, side by side between left and right. The output is the half with the marks, without them."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors

PAPER, MARK = 8, 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    # Drawn with the marks one above the other in the left upper corner, then mirrored and turned.
    largest = rng.choice([4, 10, 15, 15])
    height, width = 2 * rng.randint(3, largest), rng.randint(4, 2 * largest)
    (color,) = colors(rng, 1, without=(0, PAPER, MARK))
    cells = canvas(height, width, PAPER)
    for _ in range(rng.randint(1, 4)):
        tall, wide = [max(rng.randint(2, size), rng.randint(2, size)) for size in (height, width)]
        top, left = rng.randint(0, height - tall), rng.randint(0, width - wide)
        if (cells[top : top + tall, left : left + wide] == color).any():
            continue
        cells[top : top + tall : 2, left : left + wide : 2] = color  # a lattice of dots
    if (cells == color).mean() > 0.3:
        raise Retry
    before = cells.copy()
    before[[0, 2], 0] = MARK
    after = cells[: height // 2].copy()
    after[[0, 2], 0] = PAPER
    if not (after == color).any() or np.array_equal(after, cells[height // 2 :]):
        raise Retry
    across, down, turn = rng.choice((1, -1)), rng.choice((1, -1)), rng.random() < 0.5
    before, after = before[::down, ::across], after[::down, ::across]
    return (before.T.copy(), after.T.copy()) if turn else (before.copy(), after.copy())


def verify(grid: Grid) -> Grid:
    # Looked for beside the corners, since a figure may be grey too.
    for turned in (False, True):
        view = grid.T if turned else grid
        for step in (1, -1):
            for column in (0, -1):
                if (view[::step][:3:2, column] == MARK).all():
                    kept = view[::step][: len(view) // 2].copy()
                    kept[:3:2, column] = PAPER
                    return np.asarray(kept[::step].T if turned else kept[::step])
    raise ValueError("there are no two marks beside a corner")
