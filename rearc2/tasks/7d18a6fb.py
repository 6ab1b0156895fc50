"""The figures whose colours the blue panel names come into the corners of the answer where the panel has them."""

from random import Random

from rearc2.helpers import Grid, canvas, colors, crop, fill, objects, paint, place, random_shape

PANEL, SIDE = 1, 7
CORNERS = [(0, 0), (0, 4), (4, 0), (4, 4)]  # of the answer, whose figures are 3x3


def generate(rng: Random) -> tuple[Grid, Grid]:
    shape = rng.randint(14, 20), rng.randint(13, 20)
    palette = colors(rng, rng.randint(4, 7), without=(0, PANEL))
    figures = [random_shape(rng, 3, 3, rng.uniform(0.4, 0.7), diagonal=True) for _ in palette]
    panel, *places = place(rng, shape, [(SIDE, SIDE)] + [(3, 3)] * len(palette))
    before, after = canvas(*shape), canvas(SIDE, SIDE)
    fill(before, *panel, SIDE, SIDE, PANEL)
    for color, figure, (top, left) in zip(palette, figures, places, strict=True):
        paint(before, figure, top, left, color)
    for color, figure, (top, left) in zip(palette, figures, CORNERS, strict=False):
        before[panel[0] + 1 + top, panel[1] + 1 + left] = color
        paint(after, figure, top, left, color)
    return before, after


def verify(grid: Grid) -> Grid:
    panel = crop(grid, grid == PANEL)
    output = canvas(SIDE, SIDE)
    figures = {thing.color: thing.patch for thing in objects(grid) if thing.size > 1}
    for top, left in CORNERS:
        paint(output, figures[int(panel[1 + top, 1 + left])], top, left)
    return output
