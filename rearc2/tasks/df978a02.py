"""Of the four figures around the middle the largest grows: three cells in a line are added behind its outer edge, in
line with the middle. The other three lose their tip, the cell that points to the middle."""

from random import Random

import numpy as np

from rearc2.helpers import SIDES, Grid, Mask, Retry, canvas, colors, grow, label, objects, to_top, undo_to_top

GROUND, SIDE = 8, 16


def generate(rng: Random) -> tuple[Grid, Grid]:
    row, column = rng.randint(7, 8), 7
    figures = {}
    for side in SIDES:
        # In each view the figure lies above the middle.
        middle = to_top(np.arange(SIDE * SIDE).reshape(SIDE, SIDE), side) == row * SIDE + column
        center_row, center_column = np.argwhere(middle)[0].tolist()
        tip = center_row - (2 if side in ("left", "right") else rng.randint(1, 2))
        figures[side] = undo_to_top(_figure(rng, tip, center_column), side), tip, center_column
    sizes = sorted(int(figure.sum()) for figure, _, _ in figures.values())
    if sizes[-1] == sizes[-2] or sizes[1] < 4:
        raise Retry
    before, after = canvas(SIDE, SIDE, GROUND), canvas(SIDE, SIDE, GROUND)
    taken = before != GROUND
    for color, (side, (figure, tip, column)) in zip(
        colors(rng, 4, without=(GROUND,)), figures.items(), strict=True
    ):
        if (grow(figure) & taken).any():
            raise Retry
        taken |= figure
        before[figure] = after[figure] = color
        view, shape = to_top(after, side), to_top(figure, side)
        if figure.sum() == sizes[-1]:
            edge = int(shape.any(axis=1).argmax())
            around = shape[edge, column - 6 : column + 7]
            if not shape[edge, column] or (around != around[::-1]).any():
                raise Retry  # the middle of the edge is in line with the middle, as in the official pairs
            view[edge - 1, column - 1 : column + 2] = color
            grown = (after == color) & ~figure
        else:
            view[tip, column] = GROUND
    if (grow(grown) & (before != GROUND) & (before != after[grown][0])).any():
        raise Retry  # what is added keeps clear of the others too
    return before, after


def _figure(rng: Random, tip: int, column: int) -> Mask:
    """A figure with its tip at the given place, in layers upwards from there."""
    figure = np.zeros((SIDE, SIDE), bool)
    figure[tip, column] = True
    symmetric = rng.random() < 0.7
    layers, widest = rng.randint(1, tip - 2), rng.randint(1, 4)
    for layer in range(1, layers + 1):
        reach = min(layer + 1, widest)
        left, right = rng.randint(0, reach), rng.randint(0, reach)
        if symmetric:
            right = left
        run = figure[tip - layer, column - left : column + right + 1]
        run[:] = True
        if left + right >= 2 and rng.random() < 0.25:
            run[1:-1] = False  # hollow
    if label(figure)[1] != 1:
        raise Retry
    return figure


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    figures = objects(np.where(grid == GROUND, -1, grid), background=-1)
    largest = max(figures, key=lambda figure: figure.size)
    for side in SIDES:
        things = objects(to_top(np.where(grid == GROUND, -1, grid), side), background=-1)
        figure = min(things, key=lambda thing: thing.bottom)  # the uppermost in this view
        view = to_top(output, side)
        tip = figure.left + int(figure.mask[-1].argmax())
        if figure.size == largest.size:
            view[figure.top - 1, tip - 1 : tip + 2] = view[figure.bottom, tip]
        else:
            view[figure.bottom, tip] = GROUND
    return output
