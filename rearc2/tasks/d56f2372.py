"""One figure is the same as its left-right mirror image: the output is that figure."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, box, canvas, colors, label, objects, paint, place, random_shape


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(4, 6)
    palette = colors(rng, count)
    figures = [_symmetric(rng)]
    while len(figures) < count:
        figure = _symmetric(rng)
        if rng.random() < 0.4:
            figure = random_shape(rng, rng.randint(3, 6), rng.randint(4, 7), 0.5, diagonal=True)
        else:
            for _ in range(rng.randint(1, 2)):  # a symmetric figure with a fault or two
                row, column = rng.randrange(figure.shape[0]), rng.randrange(figure.shape[1])
                figure[row, column] ^= True
        if label(figure)[1] != 1 or box(figure) != (0, 0, *figure.shape):
            continue
        if (figure != np.fliplr(figure)).any() and (figure != np.flipud(figure)).any():
            figures.append(figure)
    shape = rng.randint(17, 24), rng.randint(15, 22)
    before = canvas(*shape)
    places = place(rng, shape, [figure.shape for figure in figures])
    for figure, (top, left), color in zip(figures, places, palette, strict=True):
        paint(before, figure, top, left, color)
    return before, palette[0] * figures[0]


def _symmetric(rng: Random) -> Mask:
    width = rng.randint(4, 9)
    half = random_shape(rng, rng.randint(3, 7), (width + 1) // 2, rng.uniform(0.4, 0.6), diagonal=True)
    figure = np.hstack([half, np.fliplr(half[:, : width // 2])])
    if (figure == np.flipud(figure)).all() or figure.mean() > 0.8:
        raise Retry
    return figure


def verify(grid: Grid) -> Grid:
    (figure,) = [thing for thing in objects(grid) if (thing.mask == np.fliplr(thing.mask)).all()]
    return figure.patch.copy()
