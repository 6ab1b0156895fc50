"""Every dot is tied to the bar of its colour: a straight line runs from the bar to the dot, three cells wide where it
leaves the bar, and the dot turns into a hole with its four neighbours coloured."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, colors, fill, objects, paint, place


def generate(rng: Random) -> tuple[Grid, Grid]:
    rows, columns = min(30, rng.randint(13, 34)), min(30, rng.randint(13, 34))
    ground, *palette = colors(rng, 1 + rng.randint(1, 1 + rows * columns // 160))
    groups = [_bar(rng) for _ in palette]
    before, after = canvas(rows, columns, ground), canvas(rows, columns, ground)
    corners = place(rng, before.shape, [start.shape for start, _ in groups])
    for (start, end), color, (top, left) in zip(groups, palette, corners, strict=True):
        paint(before, start, top, left, color)
        paint(after, end, top, left, color)
    return before, after


def _bar(rng: Random) -> tuple[Mask, Mask]:
    """A bar with its dots before and after, upright or lying."""
    thick, long = rng.randint(2, 4), rng.randint(5, 11)
    above, below = rng.randint(4, 13), rng.randint(4, 13)
    start = np.zeros((above + thick + below, long), bool)
    start[above : above + thick] = True
    end = start.copy()
    for middle in sorted(rng.sample(range(1, long - 1), rng.randint(1, min(5, long // 2)))):
        up = rng.random() < 0.5
        # As if the bar were below; the dot is two or more cells away from it.
        first, last = (start, end) if up else (start[::-1], end[::-1])
        edge = above if up else below
        row = rng.randint(1, edge - 3)
        if last[:edge, max(0, middle - 2) : middle + 3].any():
            continue  # too near to another dot's line
        first[row, middle] = True
        last[row - 1 : edge, middle] = True
        last[[row, row, edge - 1, edge - 1], [middle - 1, middle + 1, middle - 1, middle + 1]] = True
        last[row, middle] = False
    if (start == end).all():
        raise Retry
    used = np.flatnonzero(end.any(axis=1))
    start, end = start[used[0] : used[-1] + 1], end[used[0] : used[-1] + 1]
    return (start, end) if rng.random() < 0.5 else (start.T, end.T)


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    ground = int(np.bincount(grid.ravel()).argmax())
    things = objects(grid, background=ground)
    for dot in things:
        if dot.size > 1:
            continue
        row, column = dot.top, dot.left
        (bar,) = [thing for thing in things if thing.size > 1 and thing.color == dot.color]
        down = (bar.top > row) - (bar.bottom < row)
        right = (bar.left > column) - (bar.right < column)
        for near in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            output[row + near[0], column + near[1]] = dot.color
        output[row, column] = ground
        row, column = row + down, column + right
        while grid[row, column] == ground:
            output[row, column] = dot.color
            row, column = row + down, column + right
        # One step back: the cell at the bar, and its two neighbours along the bar.
        row, column = row - down, column - right
        fill(output, row - abs(right), column - abs(down), 1 + 2 * abs(right), 1 + 2 * abs(down), dot.color)
    return output
