"""The 2x2 key in the corner names two pairs of colours, one in each row. In the figure the colours of each pair are
exchanged; the key stays."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, paint, random_shape

SIDE = 10


def generate(rng: Random) -> tuple[Grid, Grid]:
    key = np.array(colors(rng, 4)).reshape(2, 2)
    height, width = rng.randint(4, 8), rng.randint(3, 6)
    shape = random_shape(rng, height, width, rng.uniform(0.4, 0.7))
    # Each cell has the colour of the nearest of some random points: patches, not noise.
    points = [
        (rng.randrange(height), rng.randrange(width), rng.randrange(4)) for _ in range(rng.randint(5, 9))
    ]
    patches = np.array(
        [
            [min(points, key=lambda point: abs(point[0] - r) + abs(point[1] - c))[2] for c in range(width)]
            for r in range(height)
        ]
    )
    if set(patches[shape].tolist()) != {0, 1, 2, 3}:
        raise Retry
    top, left = rng.randint(1, SIDE - height), rng.randint(2, SIDE - width)
    before, after = canvas(SIDE, SIDE), canvas(SIDE, SIDE)
    paint(before, np.where(shape, key.ravel()[patches], 0), top, left)
    paint(after, np.where(shape, key[:, ::-1].ravel()[patches], 0), top, left)
    if before[:3, :3].any():
        raise Retry  # the figure must not touch the key
    before[:2, :2] = after[:2, :2] = key
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for first, second in grid[:2, :2]:
        output[grid == first] = second
        output[grid == second] = first
    output[:2, :2] = grid[:2, :2]
    return output
