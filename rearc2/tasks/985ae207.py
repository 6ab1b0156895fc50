"""Every 3x3 box is repeated, side by side, towards the bar that has the colour of its centre, until it runs into the
bar."""

from random import Random

import numpy as np

from rearc2.helpers import (
    SIDES,
    Grid,
    Retry,
    canvas,
    colors,
    fill,
    grow,
    objects,
    undo_to_top,
)

GROUND = 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(18, 27)
    ring, *bar_colors = colors(rng, 5, without=(0, GROUND))
    before = canvas(side, side, GROUND)
    bars = {}  # side -> rows the bar takes from there, first and last column, colour
    for edge, color in zip(rng.sample(SIDES, rng.choice([2, 3, 4, 4])), bar_colors, strict=False):
        thickness, offset = rng.randint(2, side // 4), rng.randint(0, 2)
        first = rng.randint(0, side // 2)
        last = min(side, first + rng.randint(5, side)) - 1
        bar = canvas(side, side)
        fill(bar, offset, first, thickness, last - first + 1, 1)
        covered = undo_to_top(bar, edge) > 0
        if (before[grow(covered)] != GROUND).any():
            raise Retry
        before[covered] = color
        bars[edge] = offset + thickness, first, last, color
    after = before.copy()
    boxed = np.zeros(before.shape, bool)
    free = before == GROUND
    count = rng.randint(2, 6)
    for _ in range(40):
        edge, (depth, first, last, color) = rng.choice(list(bars.items()))
        # One cell is left over before the bar, so that the last copy runs two cells into it.
        copies = rng.randint(1, 4)
        top, left = depth - 2 + 3 * copies, rng.randint(first - 1, last - 1)
        stamp, trail = canvas(side, side), canvas(side, side)
        if not 0 <= left <= side - 3 or top > side - 3:
            continue
        fill(stamp, top, left, 3, 3, 1)
        fill(trail, depth - 2, left, 3 * copies + 3, 3, 1)
        trail[depth - 1 : top + 3 : 3, left + 1] = 2
        stamp, trail = undo_to_top(stamp, edge) > 0, undo_to_top(trail, edge)
        usable = free | (before == color) & ~boxed
        if boxed.sum() == 9 * count or not usable[trail > 0].all() or (grow(stamp) & (boxed | ~free)).any():
            continue
        boxed |= stamp
        free &= trail == 0
        after[trail == 1], after[trail == 2] = ring, color
        before[stamp & (trail == 1)], before[stamp & (trail == 2)] = ring, color
    if boxed.sum() < 18:
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    things = objects(grid, GROUND, diagonal=False)
    bars = {thing.color: thing for thing in things if thing.mask.all() and thing.size > 1}
    for box in things:
        if box.height != 3 or box.width != 3 or box.size != 8:
            continue
        patch = grid[box.slices]
        bar = bars[int(patch[1, 1])]
        down = right = 0
        if bar.top <= box.top + 1 <= bar.bottom:
            right = 3 if bar.left > box.left else -3
        else:
            down = 3 if bar.top > box.top else -3
        top, left = box.top, box.left
        while not (grid[top : top + 3, left : left + 3] == bar.color).sum() > 1:
            top, left = top + down, left + right
            output[top : top + 3, left : left + 3] = patch
    return output
