"""The figures line up on the floor from the left without gaps, from the smallest to the largest. A frame around the
whole grid disappears."""

from random import Random

from rearc2.helpers import Grid, Retry, canvas, colors, frame, objects, paint, place, random_shape, retrying

BACKGROUND = 7
SIDE = 10


def generate(rng: Random) -> tuple[Grid, Grid]:
    count, framed = rng.randint(3, 5), rng.random() < 0.2
    return retrying(lambda: _draw(rng, count, framed))


def _draw(rng: Random, count: int, framed: bool) -> tuple[Grid, Grid]:
    figures = [
        random_shape(rng, rng.randint(1, 6), rng.randint(1, 4), rng.uniform(0.6, 1)) for _ in range(count)
    ]
    figures.sort(key=lambda figure: int(figure.sum()))
    if (
        sum(figure.shape[1] for figure in figures) > SIDE
        or len({int(figure.sum()) for figure in figures}) < count
    ):
        raise Retry
    frame_color, *palette = colors(rng, count + 1, without=(BACKGROUND,))
    alike = rng.random() < 0.3  # two figures of one colour, which must not touch then
    if alike:
        palette[-1] = palette[-2]
        rng.shuffle(palette)
    before, after = canvas(SIDE, SIDE, BACKGROUND), canvas(SIDE, SIDE, BACKGROUND)
    if framed:
        frame(before, 0, 0, SIDE, SIDE, frame_color)
    gap = 1 if alike else rng.randint(0, 1)
    places = place(rng, before.shape, [figure.shape for figure in figures], gap=gap, margin=int(framed))
    column = 0
    for figure, color, (top, left) in zip(figures, palette, places, strict=True):
        paint(before, figure, top, left, color)
        paint(after, figure, SIDE - len(figure), column, color)
        column += figure.shape[1]
    if (before == BACKGROUND).sum() < SIDE * SIDE // 2:
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = canvas(*grid.shape, BACKGROUND)
    figures = objects(grid, background=BACKGROUND, diagonal=False)
    column = 0
    for figure in sorted(figures, key=lambda figure: figure.size):
        if figure.mask.shape != grid.shape:
            paint(output, figure.mask, len(grid) - figure.height, column, figure.color)
            column += figure.width
    return output
