"""Closed figures, with a hole or solid, become red and slide to the left border; figures with an opening become green
and slide to the right border."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, holes, objects, paint

BACKGROUND, FIGURE = 4, 1
CLOSED, OPEN = 2, 3
HEIGHT = 22


def generate(rng: Random) -> tuple[Grid, Grid]:
    width = rng.randint(18, 28)
    before, after = canvas(HEIGHT, width, BACKGROUND), canvas(HEIGHT, width, BACKGROUND)
    row, kinds, widest_gap = rng.randint(0, 2), [], rng.randint(1, 4)
    while True:
        kind = rng.choice(["solid", "ring", "ring", "open", "open", "open"])
        figure = _figure(rng, kind)
        if row + figure.shape[0] > HEIGHT:
            break
        closed = kind != "open"
        paint(before, figure, row, rng.randint(2, max(2, width - 2 - figure.shape[1])), FIGURE)
        paint(after, figure, row, 0 if closed else width - figure.shape[1], CLOSED if closed else OPEN)
        kinds.append(closed)
        row += figure.shape[0] + rng.randint(1, widest_gap)
    if len(kinds) < 3 or len(set(kinds)) < 2:
        raise Retry
    return before, after


def _figure(rng: Random, kind: str) -> Mask:
    """A solid box, a ring with walls of differing thickness, or a ring with a gap in one wall."""
    if kind == "solid":
        return np.ones((rng.randint(2, 3), rng.randint(2, 4)), bool)
    inner_height, inner_width = rng.choice([1, 1, 2, 3, 4]), rng.choice([1, 2, 2, 3, 4, 5])
    above, below, left, right = (rng.choice([1, 1, 1, 1, 2, 2, 3]) for _ in range(4))
    figure = np.ones((above + inner_height + below, left + inner_width + right), bool)
    figure[above : above + inner_height, left : left + inner_width] = False
    if kind == "ring":
        if left == 2:  # a wall of two cells may lose its corners
            figure[[0, -1], 0] = rng.random() < 0.5
        elif rng.random() < 0.3:  # or a knob sits on top
            figure = np.vstack([np.zeros((1, figure.shape[1]), bool), figure])
            figure[0, -rng.randint(1, 2) :] = True
        return figure
    gap = rng.randint(1, inner_width)
    shift = left + rng.randint(0, inner_width - gap)
    figure[: above + 1, shift : shift + gap] = False  # the gap is above; then the figure is turned
    figure = np.rot90(figure, rng.randrange(4))
    return figure if rng.random() < 0.5 else figure[:, ::-1]


def verify(grid: Grid) -> Grid:
    output = np.full_like(grid, BACKGROUND)
    for thing in objects(grid, background=BACKGROUND):
        closed = thing.mask.all() or holes(thing.mask).any()
        left = 0 if closed else grid.shape[1] - thing.width
        paint(output, thing.mask, thing.top, left, CLOSED if closed else OPEN)
    return output
