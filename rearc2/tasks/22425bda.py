"""Straight lines in different colours run from border to border, one over the other. The output lists their colours
from the lowest to the topmost line.

The official test leaves open which of two lines is higher (where they meet, both are covered): there the shorter one
is. Generated pairs have no such doubt."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, colors, retrying

GROUND = 7
SLOPES = [(0, 1), (1, 0), (1, 1), (1, -1)]  # (down, right)


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(2, 8)
    side = rng.randint(max(7, 2 * count + 2), 7 + 2 * count)
    lines: list[Mask] = []  # lowest first
    for _ in range(count):
        lines.append(retrying(lambda: _line_across(rng, side, lines)))
    order = colors(rng, count, without=(GROUND,))
    before = canvas(side, side, GROUND)
    for line, color in zip(lines, order, strict=True):
        before[line] = color
    for number, color in enumerate(order):
        # A line's direction must show, and that it covers the one below.
        seen = lines[number] & (before == color)
        if seen.sum() < 4 or (number and not (seen & lines[number - 1]).any()):
            raise Retry
    return before, np.array([order])


def _line_across(rng: Random, side: int, lines: list[Mask]) -> Mask:
    """A line that crosses the last of the lines drawn so far and lies on none of them."""
    down, right = rng.choice(SLOPES)
    rows, columns = np.indices((side, side))
    line = (rows - rng.randrange(side)) * right == (columns - rng.randrange(side)) * down
    if line.sum() < max(5, side // 2) or any((line & other).sum() > 1 for other in lines):
        raise Retry
    if lines and not (line & lines[-1]).any():
        raise Retry
    return line


def verify(grid: Grid) -> Grid:
    left = {}  # colour -> cells of its line, seen or covered
    for color in sorted(set(grid.ravel().tolist()) - {GROUND}):
        places = np.argwhere(grid == color)
        start, end = places[0], places[-1]
        down, right = np.sign(end - start)
        rows, columns = np.indices(grid.shape)
        left[color] = (rows - start[0]) * right == (columns - start[1]) * down
    from_top: list[int] = []
    while left:
        # A line is on top if whatever covers it has been taken away.
        on_top = [color for color in left if np.isin(grid[left[color]], [color, *from_top]).all()]
        top = min(on_top, key=lambda color: left[color].sum())
        from_top.append(top)
        del left[top]
    return np.array([from_top[::-1]])
