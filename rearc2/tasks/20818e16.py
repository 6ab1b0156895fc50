"""The rectangles, which partly cover one another, are stacked with their upper left corners together, the largest at
the bottom; the output is as large as the largest."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, background, box, canvas, colors, fill


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(12, 18), rng.randint(13, 18)
    count = rng.randint(3, 5)
    ground, *palette = colors(rng, count + 1, without=())
    if 0 in palette:
        raise Retry
    sizes = [(rng.randint(5, 9), rng.randint(6, 11))]
    while len(sizes) < count:
        # Each fits into the one before.
        tall, wide = rng.randint(1, sizes[-1][0]), rng.randint(2, sizes[-1][1])
        if tall * wide > 0.8 * sizes[-1][0] * sizes[-1][1]:
            raise Retry
        sizes.append((tall, wide))
    after = canvas(*sizes[0])
    for (tall, wide), color in zip(sizes, palette, strict=True):
        fill(after, 0, 0, tall, wide, color)

    before = canvas(height, width, ground)
    places = {}
    for number in rng.sample(range(count), count):
        tall, wide = sizes[number]
        top, left = rng.randint(0, height - tall - 1), rng.randint(0, width - wide - 1)
        fill(before, top, left, tall, wide, palette[number])
        places[palette[number]] = top, left, tall, wide
    # Enough of each one is to be seen to tell its size.
    if any(not np.any(before == color) or box(before == color) != where for color, where in places.items()):
        raise Retry
    if np.sum(before == ground) < 1.2 * max(np.sum(before == color) for color in palette):
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    things = [(box(grid == color)[2:], color) for color in set(grid.ravel().tolist()) - {background(grid)}]
    things.sort(key=lambda thing: -thing[0][0] * thing[0][1])
    output = canvas(*things[0][0])
    for (height, width), color in things:
        fill(output, 0, 0, height, width, color)
    return output
