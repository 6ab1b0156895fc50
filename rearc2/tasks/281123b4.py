"""The four panels are laid over each other: maroon on top, then yellow, then sky blue, grey at the bottom."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, join, paint, scatter, split

SIDE, BAR = 4, 3
ACROSS = [8, 5, 9, 4]  # the panels' colours from left to right
PILE = [5, 8, 4, 9]  # from the lowest to the topmost


def generate(rng: Random) -> tuple[Grid, Grid]:
    masks = {ink: scatter(rng, (SIDE, SIDE), rng.uniform(0.3, 0.7)) for ink in ACROSS}
    if min(mask.sum() for mask in masks.values()) < 3:
        raise Retry
    after = canvas(SIDE, SIDE)
    for ink in PILE:
        paint(after, masks[ink], 0, 0, ink)
    return join([[masks[ink] * ink for ink in ACROSS]], BAR), after


def verify(grid: Grid) -> Grid:
    (panels,) = split(grid, BAR)
    rank = np.zeros(10, np.int64)
    rank[PILE] = [1, 2, 3, 4]
    return np.array([0, *PILE])[np.max([rank[panel] for panel in panels], axis=0)]
