"""The frame holds some cells of one of the glyphs above, enlarged. The output is the frame with the whole glyph, in the
colour of those cells."""

from random import Random

import numpy as np

from rearc2.helpers import (
    Grid,
    Mask,
    Retry,
    box,
    canvas,
    colors,
    frame,
    paint,
    random_shape,
    retrying,
    upscale,
)

GROUND, HEIGHT, WIDTH = 8, 27, 21


def generate(rng: Random) -> tuple[Grid, Grid]:
    tall, wide = rng.randint(3, 4), rng.randint(3, 4)
    count = rng.randint(2, WIDTH // (wide + 1))
    return retrying(lambda: _draw(rng, tall, wide, count))


def _draw(rng: Random, tall: int, wide: int, count: int) -> tuple[Grid, Grid]:
    glyphs: list[Mask] = []
    for _ in range(count):
        # Now and then one of another width, which cannot fill the frame.
        width = wide + 1 if glyphs and rng.random() < 0.15 else wide
        glyphs.append(random_shape(rng, tall, width, 0.6, diagonal=True))
    if any(glyph.all() for glyph in glyphs):
        raise Retry
    scale = rng.randint(2, min(4, (WIDTH - 3) // wide))
    shown = _part(rng, glyphs)
    order = rng.sample(glyphs, count)
    border, filling, *palette = colors(rng, count + 2, without=(GROUND,))
    before = canvas(HEIGHT, WIDTH, GROUND)
    left = rng.randint(1, 2)
    for glyph, color in zip(order, palette, strict=True):
        if left + glyph.shape[1] >= WIDTH:
            raise Retry
        before[1 : 1 + tall, left : left + glyph.shape[1]][glyph] = color
        left += glyph.shape[1] + 1
    height, width = scale * tall + 2, scale * wide + 2
    after = canvas(height, width, GROUND)
    frame(after, 0, 0, height, width, border)
    start = after.copy()
    after[1:-1, 1:-1][upscale(glyphs[0], scale)] = filling
    start[1:-1, 1:-1][upscale(shown, scale)] = filling
    top, left = rng.randint(tall + 3, HEIGHT - height), rng.randint(1, WIDTH - 1 - width)
    before[top : top + height, left : left + width] = start
    return before, after


def _part(rng: Random, glyphs: list[Mask]) -> Mask:
    """Some cells of the first glyph that no other one has all of."""
    cells = np.argwhere(glyphs[0]).tolist()
    part = np.zeros_like(glyphs[0])
    for row, column in rng.sample(cells, rng.randint(2, min(4, len(cells) - 2))):
        part[row, column] = True
    others = [glyph for glyph in glyphs[1:] if glyph.shape == part.shape]
    if any(not (part & ~glyph).any() for glyph in others):
        raise Retry
    return part


def verify(grid: Grid) -> Grid:
    areas = {}
    for color in np.unique(grid[grid != GROUND]).tolist():
        _, _, height, width = box(grid == color)
        areas[color] = height * width
    border = max(areas, key=lambda color: areas[color])
    top, left, height, width = box(grid == border)
    output = grid[top : top + height, left : left + width].copy()
    inside = output[1:-1, 1:-1]
    shown = inside != GROUND
    above = grid[:top]
    for color in np.unique(above[above != GROUND]).tolist():
        row, column, tall, wide = box(above == color)
        scale = (height - 2) // tall
        if (scale * tall, scale * wide) != inside.shape:
            continue
        glyph = upscale(above[row : row + tall, column : column + wide] == color, scale)
        if not (shown & ~glyph).any():
            paint(inside, glyph, 0, 0, int(inside[shown][0]))
            return output
    raise ValueError("no glyph fits")
