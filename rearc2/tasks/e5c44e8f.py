"""A green spiral winds clockwise out of the green dot (two up, two right, four down, four left, six up, ...) until it
meets a red dot; what lies beyond the grid's edge counts as drawn, so that an unhindered spiral comes back in."""

from itertools import count, pairwise
from random import Random

from rearc2.helpers import Grid, Retry, canvas, scatter

SIDE = 11
GREEN, RED = 3, 2
TURNS = ((-1, 0), (0, 1), (1, 0), (0, -1))


def generate(rng: Random) -> tuple[Grid, Grid]:
    dot = rng.randint(3, 7), rng.randint(3, 7)
    corners = [dot]
    for leg in range(4 * SIDE):
        length, (down, right) = 2 * (leg // 2 + 1), TURNS[leg % 4]
        corners.append((corners[-1][0] + length * down, corners[-1][1] + length * right))
    before, after = canvas(SIDE, SIDE), canvas(SIDE, SIDE)
    before[dot] = after[dot] = GREEN
    # The leg that a red dot ends; -1: no red dots at all, the spiral leaves the grid.
    last = rng.choice([-1, *range(1, 5), *(2 * list(range(5, 11)))])
    obstacle = None
    for leg, ((top, left), (bottom, right)) in enumerate(pairwise(corners)):
        steps = max(abs(bottom - top), abs(right - left))
        cells = [
            (top + (bottom - top) * step // steps, left + (right - left) * step // steps)
            for step in range(1, steps + 1)
        ]
        visible = [(r, c) for r, c in cells if 0 <= r < SIDE and 0 <= c < SIDE]
        if leg == last:
            if not visible:
                raise Retry
            obstacle = rng.choice(visible)
            visible = visible[: visible.index(obstacle)]
        for place in visible:
            after[place] = GREEN
        if leg == last:
            break
    if obstacle is not None:
        red = scatter(rng, before.shape, rng.uniform(0.04, 0.12)) & (after == 0)
        red[obstacle] = True
        before[red] = after[red] = RED
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    height, width = grid.shape
    ((row, column),) = [(r, c) for r in range(height) for c in range(width) if grid[r, c] == GREEN]
    for leg in count():
        length = 2 * (leg // 2 + 1)
        if length > 2 * (height + width):  # the spiral has left the grid for good
            return output
        down, right = TURNS[leg % 4]
        for _ in range(length):
            row, column = row + down, column + right
            if 0 <= row < height and 0 <= column < width:
                if grid[row, column] == RED:
                    return output
                output[row, column] = GREEN
    raise AssertionError("count() does not end")
