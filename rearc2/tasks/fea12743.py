"""One of the six figures is what two others give when laid over each other: it turns green and the two sky blue (of
equal figures the first one)."""

from itertools import combinations, permutations
from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, paint, scatter, symmetric_shape

SHAPE, FIGURE, SUM, PART = (16, 11), 2, 3, 8
CORNERS = [(1 + 5 * row, 1 + 5 * column) for row in range(3) for column in range(2)]


def generate(rng: Random) -> tuple[Grid, Grid]:
    style = rng.choice(["frames", "bars", "free", "free"])
    fixed = np.zeros((4, 4), bool)  # what all six have in common
    if style == "frames":
        fixed[[0, -1]] = fixed[:, [0, -1]] = True
    elif style == "bars":
        fixed[[0, -1]] = True
    elif rng.random() < 0.5:
        fixed[-1, 1:3] = True
    density = rng.uniform(0.25, 0.55)
    figures = [_figure(rng, fixed, density) for _ in range(5)]
    figures.append(figures[0] | figures[1])
    same = any(np.array_equal(a, b) for a, b in combinations(figures, 2))
    sums = sum(
        np.array_equal(a | b, c)
        for a, b in combinations(figures, 2)
        for c in figures
        if c is not a and c is not b
    )
    if same or sums != 1 or any(figure.sum() < 4 for figure in figures):
        raise Retry
    tints = [PART, PART, FIGURE, FIGURE, FIGURE, SUM]
    before, after = canvas(*SHAPE), canvas(*SHAPE)
    for (top, left), number in zip(CORNERS, rng.sample(range(6), 6), strict=True):
        paint(before, figures[number], top, left, FIGURE)
        paint(after, figures[number], top, left, tints[number])
    return before, after


def _figure(rng: Random, fixed: Mask, density: float) -> Mask:
    free = scatter(rng, (4, 4), density)
    if rng.random() < 0.2:
        free = symmetric_shape(rng, 4, 4, density)
    return fixed | free


def verify(grid: Grid) -> Grid:
    panels = [grid[top : top + 4, left : left + 4] == FIGURE for top, left in CORNERS]
    output = grid.copy()
    for first, second, third in permutations(range(6), 3):
        if first < second and np.array_equal(panels[first] | panels[second], panels[third]):
            for number, color in ((first, PART), (second, PART), (third, SUM)):
                paint(output, panels[number], *CORNERS[number], color)
            return output
    raise ValueError("no figure is the sum of two others")
