"""One row of rings is complete, of the others only the first ring is there: the missing ones are drawn in sky blue,
in the columns of the complete row."""

from itertools import accumulate
from random import Random

from rearc2.helpers import Grid, canvas, frame, objects

BLUE, SKY = 1, 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    tops = [*accumulate(rng.randint(4, 7) for _ in range(rng.randint(1, 4)))]
    lefts = [*accumulate(rng.randint(4, 7) for _ in range(rng.randint(1, 5)))]
    first_top, first_left = rng.randint(1, 3), rng.randint(1, 2)
    tops = [top for top in [first_top, *(first_top + top for top in tops)] if top <= 26]
    lefts = [left for left in [first_left, *(first_left + left for left in lefts)] if left <= 26]
    before = canvas(min(30, tops[-1] + 3 + rng.randint(1, 3)), min(30, lefts[-1] + 3 + rng.randint(1, 6)))
    after = before.copy()
    whole = rng.choice(tops)
    for top in tops:
        for left in lefts:
            if top == whole or left == lefts[0]:
                frame(before, top, left, 3, 3, BLUE)
                frame(after, top, left, 3, 3, BLUE)
            else:
                frame(after, top, left, 3, 3, SKY)
    return before, after


def verify(grid: Grid) -> Grid:
    rings = objects(grid)
    tops, lefts = {ring.top for ring in rings}, {ring.left for ring in rings}
    there = {(ring.top, ring.left) for ring in rings}
    output = grid.copy()
    for top in tops:
        for left in lefts:
            if (top, left) not in there:
                frame(output, top, left, 3, 3, SKY)
    return output
