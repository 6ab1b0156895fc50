"""Outlines of rectangles overlap. The output lists their colours from the one that lies under all others up to the
topmost."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, box, canvas, colors, frame, retrying

GROUND, HEIGHT, WIDTH = 8, 18, 19


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(3, 6)
    return retrying(lambda: _draw(rng, count), tries=1000)  # the count is kept: many outlines fail more often


def _draw(rng: Random, count: int) -> tuple[Grid, Grid]:
    shades = colors(rng, count, without=(GROUND,))
    before = canvas(HEIGHT, WIDTH, GROUND)
    outlines: list[Mask] = []
    for shade in shades:
        height, width = rng.randint(2, 17), rng.randint(3, 17)
        top, left = rng.randint(0, HEIGHT - height), rng.randint(0, WIDTH - width)
        frame(before, top, left, height, width, shade)
        outline = canvas(HEIGHT, WIDTH)
        frame(outline, top, left, height, width, 1)
        outlines.append(outline > 0)
        if len(outlines) > 1 and not (outlines[-1] & outlines[-2]).any():
            raise Retry
    for number, (shade, outline) in enumerate(zip(shades, outlines, strict=True)):
        under = outlines[number - 1] if number else outline
        if not (before[outline & under] == shade).any() or box(before == shade) != box(outline):
            raise Retry  # each must be seen to lie on the one before, and to its full extent
    return before, np.array(shades)[:, None]


def verify(grid: Grid) -> Grid:
    outlines = {}
    for color in set(grid.ravel().tolist()) - {GROUND}:
        drawn = canvas(*grid.shape)
        frame(drawn, *box(grid == color), 1)
        outlines[color] = drawn > 0
    from_top: list[int] = []
    while outlines:
        # No other one that is still there is seen on the topmost.
        (topmost,) = [
            color
            for color, outline in outlines.items()
            if not any((grid[outline] == other).any() for other in outlines if other != color)
        ]
        from_top.append(topmost)
        del outlines[topmost]
    return np.array(from_top[::-1])[:, None]
