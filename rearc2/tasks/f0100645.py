"""Figures in the colour of the left wall slide left, those in the colour of the right wall slide right, in one piece
each, until they run into the wall or into one another."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, objects, paint, place, random_shape

ORANGE = 7


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(8, 14)
    left_color, right_color = colors(rng, 2, without=(0, ORANGE))
    count = rng.randint(4, 4 + side * side // 40)
    figures = []
    for _ in range(count):
        height, width = rng.randint(1, 3), rng.randint(1, 3)
        figures.append(random_shape(rng, height, width, rng.uniform(0.5, 0.8), diagonal=True))
    # A free column keeps every figure off both walls.
    places = [(r, c + 2) for r, c in place(rng, (side, side - 4), [figure.shape for figure in figures])]
    owners = [rng.random() < 0.5 for _ in figures]  # does it belong to the left wall?
    if all(owners) or not any(owners):
        raise Retry
    before, after = canvas(side, side, ORANGE), canvas(side, side, ORANGE)
    for grid in (before, after):
        grid[:, 0], grid[:, -1] = left_color, right_color
    cells: list[dict[int, list[int]]] = []  # for each figure: row -> columns
    for figure, (top, left), leftwards in zip(figures, places, owners, strict=True):
        paint(before, figure, top, left, left_color if leftwards else right_color)
        rows, columns = np.nonzero(figure)
        where: dict[int, list[int]] = {}
        for r, c in zip((rows + top).tolist(), (columns + left).tolist(), strict=True):
            where.setdefault(r, []).append(c)
        cells.append(where)
    for leftwards in (True, False):
        same = [number for number in range(count) if owners[number] == leftwards]
        # How far each slides: to the wall, or up to a figure ahead in one of its rows and on with that one.
        slide = {number: side for number in same}
        for _ in range(count):
            for number in same:
                for row, columns_here in cells[number].items():
                    near = min(columns_here) if leftwards else max(columns_here)
                    slide[number] = min(slide[number], (near if leftwards else side - 1 - near) - 1)
                    for other in same:
                        ahead = [
                            c for c in cells[other].get(row, []) if (c < near) == leftwards and c != near
                        ]
                        if other != number and ahead:
                            gap = abs(near - (max(ahead) if leftwards else min(ahead))) - 1
                            slide[number] = min(slide[number], slide[other] + gap)
        for number in same:
            step = -slide[number] if leftwards else slide[number]
            color = left_color if leftwards else right_color
            paint(after, figures[number], places[number][0], places[number][1] + step, color)
    # The two kinds do not meet on their way: in every row those that go left lie left of those that go right.
    for row in before:
        goes_left = np.flatnonzero(row[1:-1] == left_color)
        goes_right = np.flatnonzero(row[1:-1] == right_color)
        if len(goes_left) and len(goes_right) and goes_left.max() > goes_right.min():
            raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    inside = np.where(grid == ORANGE, 0, grid)[:, 1:-1]
    figures = [(thing.color, set(thing.cells)) for thing in objects(inside)]
    width = inside.shape[1]
    moving = True
    while moving:
        moving = False
        for number, (color, cells) in enumerate(figures):
            step = -1 if color == grid[0, 0] else 1
            target = {(r, c + step) for r, c in cells}
            others = set().union(*(place for other, (_, place) in enumerate(figures) if other != number))
            if not target & others and all(0 <= c < width for _, c in target):
                figures[number] = color, target
                moving = True
    output = np.full_like(grid, ORANGE)
    output[:, [0, -1]] = grid[:, [0, -1]]
    for color, cells in figures:
        for r, c in cells:
            output[r, c + 1] = color
    return output
