"""A lattice of sky blue rings with dots between them. The dots of one colour span a box, widened to the nearest lanes
between the rings; the box is framed in their colour and the holes of the rings in it take it too."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, frame, place

RING, PITCH, COUNT = 8, 4, 4
SIDE = PITCH * COUNT + 1


def generate(rng: Random) -> tuple[Grid, Grid]:
    before = canvas(SIDE, SIDE, RING)
    before[::PITCH] = before[:, ::PITCH] = 0
    before[2::PITCH, 2::PITCH] = 0
    after = before.copy()
    sizes = [(rng.randint(1, 3), rng.randint(1, 4)) for _ in range(rng.choice([1, 2, 2, 2, 3]))]
    # In units of lanes, of which a box of n rings takes n + 1.
    places = place(rng, (COUNT + 1, COUNT + 1), [(h + 1, w + 1) for h, w in sizes], gap=0)
    for (height, width), (top, left), color in zip(
        sizes, places, colors(rng, len(sizes), without=(0, RING)), strict=True
    ):
        top, left, height, width = (PITCH * number for number in (top, left, height, width))
        frame(after, top, left, height + 1, width + 1, color)
        after[top + 2 : top + height : PITCH, left + 2 : left + width : PITCH] = color
        for r, c in _dots(rng, height, width):
            before[top + r, left + c] = color
    return before, after


def _dots(rng: Random, height: int, width: int) -> list[tuple[int, int]]:
    """Some cells of a box, outside the rings, with which no smaller box would do."""
    edge = [
        (r, c) for r in range(height + 1) for c in range(width + 1) if r in (0, height) or c in (0, width)
    ]
    holes = [(r, c) for r in range(2, height, PITCH) for c in range(2, width, PITCH)]
    for _ in range(100):
        dots = rng.sample(edge, 2)
        if rng.random() < 0.3:
            dots += rng.sample(holes, min(len(holes), rng.randint(1, 2)))
        rows, columns = [r for r, _ in dots], [c for _, c in dots]
        reaches_top_left = min(rows) < PITCH and min(columns) < PITCH
        reaches_bottom_right = max(rows) > height - PITCH and max(columns) > width - PITCH
        spans = min(rows) < max(rows) and min(columns) < max(columns)
        if reaches_top_left and reaches_bottom_right and spans:
            return dots
    raise Retry


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for color in np.unique(grid[(grid != 0) & (grid != RING)]):
        rows, columns = np.nonzero(grid == color)
        top, left = rows.min() // PITCH * PITCH, columns.min() // PITCH * PITCH
        bottom, right = -(-rows.max() // PITCH) * PITCH, -(-columns.max() // PITCH) * PITCH
        output[[top, bottom], left : right + 1] = color
        output[top : bottom + 1, [left, right]] = color
        output[top + 2 : bottom : PITCH, left + 2 : right : PITCH] = color
    return output
