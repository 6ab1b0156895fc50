"""Every square loses its outermost ring of cells. A single cell, which cannot, becomes a square of 9x9 cells around
itself."""

from random import Random

from rearc2.helpers import Grid, canvas, colors, fill, objects, place, retrying

BACKGROUND = 7
SIDE, LARGEST = 16, 9


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(2, 6)
    large = rng.choice((1, LARGEST, 5))  # at most one that takes or needs much space
    return retrying(lambda: _draw(rng, [large, *(rng.choice((3, 3, 5, 7)) for _ in range(count - 1))]))


def _draw(rng: Random, sides: list[int]) -> tuple[Grid, Grid]:
    before, after = canvas(SIDE, SIDE, BACKGROUND), canvas(SIDE, SIDE, BACKGROUND)
    spaces = [LARGEST if side == 1 else side for side in sides]
    places = place(rng, before.shape, [(space, space) for space in spaces])
    palette = colors(rng, len(sides), without=(BACKGROUND,))
    for side, (top, left), color in zip(sides, places, palette, strict=True):
        if side == 1:
            before[top + LARGEST // 2, left + LARGEST // 2] = color
            fill(after, top, left, LARGEST, LARGEST, color)
        else:
            fill(before, top, left, side, side, color)
            fill(after, top + 1, left + 1, side - 2, side - 2, color)
    return before, after


def verify(grid: Grid) -> Grid:
    output = canvas(*grid.shape, BACKGROUND)
    for square in objects(grid, background=BACKGROUND):
        growth = LARGEST // 2 if square.size == 1 else -1
        side = square.height + 2 * growth
        fill(output, square.top - growth, square.left - growth, side, side, square.color)
    return output
