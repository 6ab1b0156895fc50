"""The hollow squares are put together, the solid ones left out: side by side from left to right if they are spread more
widely across, else one below the other from top to bottom."""

from itertools import pairwise
from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, frame, objects, place

SIZE = 4


def generate(rng: Random) -> tuple[Grid, Grid]:
    shape = rng.randint(15, 26), rng.randint(15, 26)
    hollow, solid = rng.randint(2, 3), rng.randint(2, 3)
    palette = colors(rng, hollow + solid)
    before = canvas(*shape)
    corners = place(rng, shape, [(SIZE, SIZE)] * (hollow + solid))
    rings = []
    for number, ((top, left), color) in enumerate(zip(corners, palette, strict=True)):
        square = canvas(SIZE, SIZE, color)
        if number < hollow:
            square = canvas(SIZE, SIZE)
            frame(square, 0, 0, SIZE, SIZE, color)
            rings.append((top, left, square))
        before[top : top + SIZE, left : left + SIZE] = square
    tops, lefts = sorted(top for top, _, _ in rings), sorted(left for _, left, _ in rings)
    # In one direction they lie one after the other; in the other they overlap, and are spread less.
    down, across = (min(b - a for a, b in pairwise(x)) >= SIZE for x in (tops, lefts))
    spread = (tops[-1] - tops[0]) - (lefts[-1] - lefts[0])
    if down == across or (spread <= 0 if down else spread >= 0):
        raise Retry
    if down:
        return before, np.vstack([square for _, _, square in sorted(rings, key=lambda ring: ring[0])])
    return before, np.hstack([square for _, _, square in sorted(rings, key=lambda ring: ring[1])])


def verify(grid: Grid) -> Grid:
    rings = [thing for thing in objects(grid) if not thing.mask.all()]
    tops, lefts = [ring.top for ring in rings], [ring.left for ring in rings]
    if max(lefts) - min(lefts) > max(tops) - min(tops):
        return np.hstack([ring.patch for ring in sorted(rings, key=lambda ring: ring.left)])
    return np.vstack([ring.patch for ring in sorted(rings, key=lambda ring: ring.top)])


def rival_overlap(grid: Grid) -> Grid:
    """Side by side if no column crosses two of them, else one below the other."""
    rings = sorted((thing for thing in objects(grid) if not thing.mask.all()), key=lambda ring: ring.left)
    if all(a.right < b.left for a, b in pairwise(rings)):
        return np.hstack([ring.patch for ring in rings])
    return np.vstack([ring.patch for ring in sorted(rings, key=lambda ring: ring.top)])
