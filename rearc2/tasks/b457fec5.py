"""Grey bands are staircases of overlapping squares, one step down and to the side each. From the top on the squares
take the colours of the key, over and over, and each covers the one before it."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors, fill, objects, paint, place

GREY = 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    key = colors(rng, rng.randint(3, 5), (0, GREY))
    size = rng.randint(3, 5)
    shape = rng.randint(14, 30), rng.randint(14, 30)
    bands = [_band(rng, key, size) for _ in range(rng.randint(1, 3))]
    taken = np.zeros(shape, bool)
    key_left = rng.randint(1, shape[1] - len(key) - 1)
    taken[1, key_left : key_left + len(key)] = True
    before, after = canvas(*shape), canvas(*shape)
    before[1, key_left : key_left + len(key)] = after[1, key_left : key_left + len(key)] = key
    places = place(rng, shape, [band.shape for band in bands], taken=taken)
    for band, (top, left) in zip(bands, places, strict=True):
        paint(before, band, top, left, GREY)
        paint(after, band, top, left)
    return before, after


def _band(rng: Random, key: list[int], size: int) -> Grid:
    """Officially the key runs out exactly once, twice or three times."""
    steps = len(key) * rng.randint(1, 3)
    band = canvas(size + steps - 1, size + steps - 1)
    for step in range(steps):
        fill(band, step, step, size, size, key[step % len(key)])
    return band if rng.random() < 0.5 else band[:, ::-1]


def verify(grid: Grid) -> Grid:
    things = objects(grid, same_color=False)
    (key,) = [thing for thing in things if thing.color != GREY]
    output = grid.copy()
    for thing in things:
        if thing is not key:
            size = int(thing.mask[0].sum())
            step = 1 if thing.mask[0, 0] else -1
            left = thing.left if step == 1 else thing.right + 1 - size
            for number in range(thing.height - size + 1):
                color = key.patch[0, number % key.width]
                row, column = thing.top + number, left + step * number
                output[row : row + size, column : column + size] = color
    return output
