"""The four flat sides of every octagon get yellow tips: rows that are shorter by one cell at both ends, until none is
left. What does not fit into the grid is cut off."""

from random import Random

import numpy as np

from rearc2.helpers import SIDES, Grid, Mask, Retry, canvas, grow, objects, paint, to_top

BODY, TIP, REACH = 8, 4, 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    before = canvas(rng.randint(18, 28), rng.randint(18, 30))
    after, taken = before.copy(), np.zeros(before.shape, bool)
    for _ in range(rng.choice([2, 2, 2, 3])):
        full, body = _octagon(rng)
        top, left, drawn = _spot(rng, full, body, taken)
        taken |= grow(drawn)
        paint(before, body, top, left, BODY)
        paint(after, full, top, left, TIP)
        paint(after, body, top, left, BODY)
    return before, after


def _spot(rng: Random, full: Mask, body: Mask, taken: Mask) -> tuple[int, int, Mask]:
    """A place for an octagon clear of all others, and what it covers there with its tips."""
    for _ in range(30):
        # In every fifth try the upper flat side may lie just beyond the border.
        top = rng.randint(-int(rng.random() < 0.2), taken.shape[0] - body.shape[0] + 2 * REACH) - REACH
        left = rng.randint(0, taken.shape[1] - body.shape[1] + 2 * REACH) - REACH
        drawn = np.zeros(taken.shape, bool)
        paint(drawn, full, top, left)
        if not (taken & drawn).any():
            return top, left, drawn
    raise Retry


def _octagon(rng: Random) -> tuple[Mask, Mask]:
    """The octagon with its tips and without; both have `REACH` cells of room on all sides."""
    bevel = rng.randint(1, 4)
    height, width = rng.randint(3, 8) + 2 * bevel, rng.randint(3, 9) + 2 * bevel
    r = np.arange(-REACH, height + REACH)[:, None]
    c = np.arange(-REACH, width + REACH)
    to_bottom, to_right = height - 1 - r, width - 1 - c
    # The tips go on with the slanting sides.
    full = (
        (r + c >= bevel)
        & (r + to_right >= bevel)
        & (to_bottom + c >= bevel)
        & (to_bottom + to_right >= bevel)
    )
    return full, full & (r >= 0) & (c >= 0) & (to_bottom >= 0) & (to_right >= 0)


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for side in SIDES:
        turned, result = to_top(grid, side), to_top(output, side)
        for thing in objects(turned):
            flat = np.flatnonzero(thing.mask[0]) + thing.left
            for step in range(1, thing.top + 1):
                if 2 * step < len(flat):
                    result[thing.top - step, flat[step] : flat[-step]] = TIP
    return output
