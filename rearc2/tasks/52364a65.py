"""Every figure loses its two leftmost columns."""

from random import Random

from rearc2.helpers import (
    Grid,
    Retry,
    background,
    canvas,
    colors,
    objects,
    paint,
    place,
    random_shape,
    retrying,
)

BACKGROUND = 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(3, 6)
    side = rng.randint(4 + count, 8 + count)
    return retrying(lambda: _draw(rng, side, count))


def _draw(rng: Random, side: int, count: int) -> tuple[Grid, Grid]:
    figures = [
        random_shape(rng, rng.randint(2, 5), rng.randint(2, 6), rng.uniform(0.5, 1)) for _ in range(count)
    ]
    before, after = canvas(side, side, BACKGROUND), canvas(side, side, BACKGROUND)
    places = place(rng, before.shape, [figure.shape for figure in figures], gap=rng.randint(0, 1))
    palette = colors(rng, count, without=(BACKGROUND,))
    for figure, (top, left), color in zip(figures, places, palette, strict=True):
        paint(before, figure, top, left, color)
        paint(after, figure[:, 2:], top, left + 2, color)
    if background(before) != BACKGROUND or (after == BACKGROUND).all():
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for figure in objects(grid, background=BACKGROUND):
        cut = output[figure.slices][:, :2]
        cut[figure.mask[:, :2]] = BACKGROUND
    return output
