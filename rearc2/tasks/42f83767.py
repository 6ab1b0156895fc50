"""The legend above gives a glyph for each colour, in the same order. The small picture is drawn large: every cell
becomes the glyph of its colour, in its colour."""

from random import Random

import numpy as np

from rearc2.helpers import (
    Grid,
    Mask,
    Retry,
    box,
    canvas,
    colors,
    fill,
    paint,
    random_cells,
    random_shape,
    scatter,
)

GREY, HEIGHT = 5, 15


def generate(rng: Random) -> tuple[Grid, Grid]:
    size = rng.randint(3, 6)
    count = rng.randint(2, 4 if size == 3 else 3)
    side = rng.randint(4, min(7, 30 // size, HEIGHT - size - 2))
    palette = colors(rng, count, without=(0, GREY))
    glyphs = [_glyph(rng, size) for _ in palette]
    if len({glyph.tobytes() for glyph in glyphs}) < count:
        raise Retry
    if rng.random() < 0.5:
        picture = random_cells(rng, (side, side), range(count))
    else:
        picture = np.tile(
            random_cells(rng, (rng.randint(2, 3), rng.randint(2, 3)), range(count)), (side, side)
        )
        picture = picture[:side, :side]
    if len(np.unique(picture)) < count:
        raise Retry
    before = canvas(HEIGHT, count * (size + 4) - 1)
    for number, (color, glyph) in enumerate(zip(palette, glyphs, strict=True)):
        fill(before, 0, 3 * number, 2, 2, color)
        paint(before, glyph, 0, 3 * count + number * (size + 1), GREY)
    top, left = rng.randint(size + 1, HEIGHT - 1 - side), rng.randint(2, max(2, 3 * count - 4))
    before[top : top + side, left : left + side] = np.array(palette)[picture]
    after = canvas(side * size, side * size)
    for row in range(side):
        for column in range(side):
            number = picture[row, column]
            paint(after, glyphs[number], row * size, column * size, palette[number])
    return before, after


def _glyph(rng: Random, size: int) -> Mask:
    """A frame, open at some places, with something inside; or any shape."""
    if rng.random() < 0.3:
        return random_shape(rng, size, size, rng.uniform(0.5, 0.7))
    glyph = np.ones((size, size), bool)
    glyph[1:-1, 1:-1] = scatter(rng, (size - 2, size - 2), 0.4)
    for _ in range(rng.randint(0, 2)):
        start = rng.randint(1, size - 2)
        glyph[0, start : rng.randint(start + 1, size - 1)] = False
        glyph = np.rot90(glyph, rng.randrange(4))
    return glyph


def verify(grid: Grid) -> Grid:
    legend = [int(grid[0, column]) for column in range(0, grid.shape[1], 3)]
    palette = legend[: next(number for number, color in enumerate(legend) if color in (0, GREY))]
    count = len(palette)
    size = (grid.shape[1] + 1) // count - 4
    picture = grid.copy()
    picture[: max(2, size)] = 0
    top, left, height, width = box(picture != 0)
    output = canvas(height * size, width * size)
    for number, color in enumerate(palette):
        start = 3 * count + number * (size + 1)
        glyph = (grid[:size, start : start + size] == GREY) * color
        where = picture[top : top + height, left : left + width] == color
        output += np.kron(where.astype(int), glyph)
    return output
