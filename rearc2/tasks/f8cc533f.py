"""All figures are copies of one figure in different colours, and each has lost some cells. Every copy gets back the
cells that the others still show."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, background, canvas, colors, crop, paint, place, symmetric_shape


def generate(rng: Random) -> tuple[Grid, Grid]:
    shape = rng.randint(11, 26), rng.randint(17, 26)
    side = rng.randint(5, 7)
    figure = symmetric_shape(rng, side, side, rng.uniform(0.4, 0.8), flips="both")
    if side % 2 and rng.random() < 0.4:
        figure[side // 2], figure[:, side // 2] = False, False  # four separate corners
    if figure.all() or not (figure[0].any() and figure[:, 0].any() and figure.sum() >= 12):
        raise Retry
    paper, *palette = colors(rng, 1 + rng.randint(2, 4))
    before, after = canvas(*shape, paper), canvas(*shape, paper)
    shown = np.zeros_like(figure)
    for color, (top, left) in zip(palette, place(rng, shape, [figure.shape] * len(palette)), strict=True):
        damaged = figure.copy()
        for row, column in rng.sample(np.argwhere(figure).tolist(), rng.randint(2, 6)):
            damaged[row, column] = False
        spans = damaged[0].any() and damaged[-1].any() and damaged[:, 0].any() and damaged[:, -1].any()
        if not spans:
            raise Retry
        shown |= damaged
        paint(before, damaged, top, left, color)
        paint(after, figure, top, left, color)
    if not np.array_equal(shown, figure):
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    paper = background(grid)
    parts = {
        color: crop(grid, grid == color) == color for color in np.unique(grid).tolist() if color != paper
    }
    height = max(part.shape[0] for part in parts.values())
    width = max(part.shape[1] for part in parts.values())
    # The largest copies first: what they show tells where a copy belongs that has lost a whole side.
    figure = np.zeros((height, width), bool)
    places = {}
    for color, part in sorted(parts.items(), key=lambda item: -item[1].size):
        down, right = places[color] = _fit(figure, part)
        figure[down : down + part.shape[0], right : right + part.shape[1]] |= part
    output = grid.copy()
    for color, (down, right) in places.items():
        top, left = np.argwhere(grid == color).min(axis=0).tolist()
        paint(output, figure, top - down, left - right, color)
    return output


def _fit(figure: Mask, part: Mask) -> tuple[int, int]:
    """Where in the figure the part belongs: where most of its cells are the figure's."""
    height, width = part.shape
    places = [(d, r) for d in range(len(figure) - height + 1) for r in range(figure.shape[1] - width + 1)]
    return max(places, key=lambda p: (figure[p[0] : p[0] + height, p[1] : p[1] + width] & part).sum())
