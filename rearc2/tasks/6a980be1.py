"""Two green rails with regular red sleepers run across a framed field. Without the frame the track goes on to the
border, and beside it the sleepers become stripes of the frame's colour over the whole field."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, frame

RAIL, SLEEPER = 3, 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(10, 26), rng.randint(12, 30)
    (color,) = colors(rng, 1, without=(0, RAIL, SLEEPER))
    thick, gap = rng.randint(1, 5), rng.randint(1, 5)
    period = thick + gap
    broad = rng.randint(1, 6)
    upper = rng.randint(2, height - 4)
    lower = upper + broad + 1
    if 2 * period > width - 2 or lower > height - 3:
        raise Retry
    striped = (np.arange(width) + rng.randrange(period)) % period < thick
    after = canvas(height, width)
    after[:, striped] = color
    after[upper : lower + 1, striped] = SLEEPER
    after[[upper, lower]] = RAIL
    before = np.zeros_like(after)
    before[upper : lower + 1] = after[upper : lower + 1]
    frame(before, 0, 0, height, width, color)
    return (before, after) if rng.random() < 0.5 else (before.T.copy(), after.T.copy())


def verify(grid: Grid) -> Grid:
    color = int(grid[0, 0])
    inner = grid[1:-1, 1:-1]
    lying = (inner == RAIL).all(axis=1).any()
    track = inner if lying else inner.T
    rails = np.flatnonzero((track == RAIL).all(axis=1))
    sleepers = (track == SLEEPER).any(axis=0)
    period = next(p for p in range(2, len(sleepers)) if (sleepers[p:] == sleepers[:-p]).all())
    # One more cell at each end, seen one period further in.
    striped = np.concatenate(
        [sleepers[period - 1 : period], sleepers, sleepers[-period : len(sleepers) - period + 1]]
    )
    output = np.where(striped, color, 0) * np.ones((len(track) + 2, 1), np.int64)
    output[rails[0] + 2 : rails[-1] + 1] = np.where(striped, SLEEPER, 0)
    output[rails + 1] = RAIL
    return output if lying else output.T
