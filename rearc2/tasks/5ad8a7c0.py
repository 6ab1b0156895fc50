"""Rows hold pairs of red cells about the middle: the pairs that lie closest together are joined by a red line."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas

RED = 2
_TOUCHING = "where a pair touches in the middle nothing changes, and pairs without a change are not kept"
EXCEPTIONS = {"in objects": _TOUCHING, "changed cells": _TOUCHING}


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, half = rng.randint(4, 7), rng.randint(3, 5)
    # Distance of each row's pair from the middle, None without a pair. A pair that touches leaves nothing to draw.
    pairs = [rng.choice([None, *range(1, half), *range(1, half)]) for _ in range(height)]
    closest = min((pair for pair in pairs if pair is not None), default=None)
    if closest is None:
        raise Retry
    before = canvas(height, 2 * half)
    after = before.copy()
    for row, pair in enumerate(pairs):
        if pair is not None:
            ends = [half - 1 - pair, half + pair]
            before[row, ends] = after[row, ends] = RED
            if pair == closest:
                after[row, ends[0] : ends[1]] = RED
    if after.all():
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    spans = {row: np.flatnonzero(cells == RED) for row, cells in enumerate(grid) if (cells == RED).any()}
    nearest = min(span[1] - span[0] for span in spans.values())
    for row, (left, right) in spans.items():
        if right - left == nearest:
            output[row, left:right] = RED
    return output
