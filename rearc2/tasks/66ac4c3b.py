"""A winding line lies along one of two dotted lines. It is mirrored over the middle between the two, in the
colour of the dots beside it."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors

SIDE = 22


def generate(rng: Random) -> tuple[Grid, Grid]:
    ground, shade, other = colors(rng, 3)
    deepest = rng.randint(2, 6)
    first = rng.randint(deepest, 10)
    second = first + rng.randint(4, 8)
    if second + deepest >= SIDE:
        raise Retry
    before = canvas(SIDE, SIDE, ground)
    period = rng.randint(2, 5)
    before[first, ::period], before[second, ::period] = other, shade
    after = before.copy()
    turns, depth = rng.uniform(0.25, 0.7), rng.randint(1, deepest)
    for column in range(SIDE):
        new = rng.randint(1, deepest) if rng.random() < turns else depth
        near, far = sorted((depth, new))
        for grid in (before, after):
            grid[first - far : first - near + 1, column] = shade
        after[second + near : second + far + 1, column] = other
        depth = new
    if (before[: first - 1] == ground).all() or (before[first - 1] == ground).all():
        raise Retry  # it does not wind, or not up to the dots
    return (before, after) if rng.random() < 0.5 else (before.T.copy(), after.T.copy())


def verify(grid: Grid) -> Grid:
    ground = int(np.bincount(grid.ravel()).argmax())
    lying = bool((grid[-1] == ground).all())
    upright = grid if lying else grid.T
    second = int(np.flatnonzero((upright != ground).any(axis=1))[-1])
    (shade,) = set(upright[second].tolist()) - {ground}
    (other,) = set(grid.ravel().tolist()) - {ground, shade}
    first = int(np.flatnonzero((upright == other).any(axis=1))[0])
    output = upright.copy()
    for row, column in np.argwhere(upright[:first] == shade).tolist():
        output[first + second - row, column] = other
    return output if lying else output.T
