"""The figure swaps its two colours and breaks in the middle: the upper half moves right until it touches the lower one
corner to corner.

All official figures lie in the middle of the grid, so the grid's middle may be what counts; no others are drawn."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, grow, label

SIDE, PAPER = 16, 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    outer, inner = colors(rng, 2, without=(PAPER,))
    tall, widest = rng.randint(3, 6), rng.randint(5, 8)
    half = np.zeros((tall, SIDE), bool)
    left = rng.randint(1, SIDE - 1 - widest)
    first, last = sorted(rng.sample(range(left, left + widest), 2))
    for row in range(tall):  # from the tip to the middle, each row a little wider or narrower
        half[row, first : last + 1] = True
        first = min(max(left, first - rng.randint(-1, 2)), left + widest - 2)
        last = max(min(left + widest - 1, last + rng.randint(-1, 2)), first + 1)
    figure = np.vstack([half, half[::-1]])
    core = figure & ~grow(np.pad(~figure, 1, constant_values=True), diagonal=False)[1:-1, 1:-1]
    if label(core)[1] > 1 or label(figure & ~core)[1] > 1:
        raise Retry
    middle = np.flatnonzero(half[-1])
    step = len(middle)
    columns = np.flatnonzero(half.any(axis=0))
    if columns[-1] + step >= SIDE or core[:tall].sum() < 3 or step < 3:
        raise Retry
    top = SIDE // 2 - tall
    before, after = canvas(SIDE, SIDE, PAPER), canvas(SIDE, SIDE, PAPER)
    for row in range(2 * tall):
        for column in np.flatnonzero(figure[row]):
            before[top + row, column] = inner if core[row, column] else outer
            after[top + row, column + (step if row < tall else 0)] = outer if core[row, column] else inner
    return before, after


def verify(grid: Grid) -> Grid:
    rows = np.flatnonzero((grid != PAPER).any(axis=1))
    return _broken(grid, (int(rows[0]) + int(rows[-1]) + 1) // 2)


def rival_grid(grid: Grid) -> Grid:
    """The figure breaks in the middle of the grid."""
    return _broken(grid, len(grid) // 2)


def _broken(grid: Grid, below: int) -> Grid:
    """Everything above the row `below` moves right; colours are swapped."""
    one, other = np.unique(grid[grid != PAPER])
    output = np.where(grid == one, other, np.where(grid == other, one, PAPER))
    step = int((grid[below] != PAPER).sum())
    output[:below] = np.roll(output[:below], step, axis=1)
    return output
