"""On every closed loop the corners that bend outwards turn yellow, those that bend inwards red."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, colors, fill, grow, holes, objects, outside, retrying

OUTWARD, INWARD = 4, 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(10, 22), rng.randint(10, 22)
    (color,) = colors(rng, 1, without=(0, OUTWARD, INWARD))
    before, after = canvas(height, width), canvas(height, width)
    free = np.ones(before.shape, bool)
    for _ in range(rng.randint(1, 2 + height * width // 120)):
        area = retrying(lambda: _area(rng, free))
        free &= ~grow(area)
        rim = area & grow(~area)
        before[rim] = color
        after[rim] = color
        for r, c in np.argwhere(rim).tolist():
            for down in (-1, 1):
                for right in (-1, 1):
                    if rim[r + down, c] and rim[r, c + right]:
                        after[r, c] = OUTWARD if area[r + down, c + right] else INWARD
    return before, after
