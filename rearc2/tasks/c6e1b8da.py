"""A rectangle with a tail moves in the direction of its tail, as far as the tail is long, and lies over the others
there; the tail disappears. Rectangles without a tail stay and show what was hidden."""

from itertools import combinations
from random import Random

import numpy as np

from rearc2.helpers import SIDES, Grid, Mask, Retry, box, canvas, colors, fill, to_top

SIDE = 20
STEPS = {"top": (-1, 0), "bottom": (1, 0), "left": (0, -1), "right": (0, 1)}


def generate(rng: Random) -> tuple[Grid, Grid]:
    movers, statics = rng.randint(1, 4), rng.randint(1, 3)
    tones = colors(rng, movers + statics)
    before, after = canvas(SIDE, SIDE), canvas(SIDE, SIDE)
    taken = np.zeros((SIDE, SIDE), bool)
    rectangles = []
    for color in tones[:statics]:
        top, left, height, width = _rectangle(rng)
        if taken[top : top + height, left : left + width].any():
            raise Retry
        fill(taken, top, left, height, width, True)
        for grid in (before, after):
            fill(grid, top, left, height, width, color)
        rectangles.append((color, (top, left, height, width)))
    taken[...] = False
    for color in tones[statics:]:
        _mover(rng, before, after, taken, color)
    for color, rectangle in rectangles:
        # Enough of a hidden rectangle is seen to know its box, and not in a way that looks like a tail.
        visible = before == color
        if visible.sum() < 0.4 * rectangle[2] * rectangle[3] or box(visible) != rectangle:
            raise Retry
        for side in SIDES:
            edge = to_top(visible[_slices(rectangle)], side)[0]
            if edge.sum() == 1 and not edge[0] and not edge[-1]:
                raise Retry
    return before, after


def _slices(rectangle: tuple[int, int, int, int]) -> tuple[slice, slice]:
    top, left, height, width = rectangle
    return slice(top, top + height), slice(left, left + width)


def _rectangle(rng: Random) -> tuple[int, int, int, int]:
    height, width = rng.randint(3, 8), rng.randint(3, 9)
    return rng.randint(1, SIDE - 1 - height), rng.randint(1, SIDE - 1 - width), height, width


def _mover(rng: Random, before: Grid, after: Grid, taken: Mask, color: int) -> None:
    """Draws a rectangle with its tail, and where it goes; movers keep out of each other's way."""
    for _ in range(30):
        top, left, height, width = _rectangle(rng)
        height, width = min(height, 6), min(width, 8)
        length = rng.randint(1, 6)
        down, right = STEPS[rng.choice(SIDES)]
        new_top, new_left = top + length * down, left + length * right
        if new_top < 0 or new_left < 0 or new_top + height > SIDE or new_left + width > SIDE:
            continue
        rows = slice(min(top, new_top), max(top, new_top) + height)
        way = rows, slice(min(left, new_left), max(left, new_left) + width)
        if taken[way].any():
            continue
        taken[way] = True
        fill(before, top, left, height, width, color)
        row, column = top + rng.randint(1, height - 2), left + rng.randint(1, width - 2)
        if down:
            row = new_top if down < 0 else top + height
            before[row : row + length, column] = color
        else:
            column = new_left if right < 0 else left + width
            before[row, column : column + length] = color
        fill(after, new_top, new_left, height, width, color)
        return
    raise Retry


def verify(grid: Grid) -> Grid:
    statics, movers, box_of = [], [], {}
    for color in np.unique(grid[grid > 0]):
        top, left, height, width = box(grid == color)
        box_of[color] = np.zeros(grid.shape, bool)
        fill(box_of[color], top, left, height, width, True)
        figure = grid[top : top + height, left : left + width] == color
        for side in SIDES:
            # Single cells, not at a corner, in the outer rows of the figure turned to the top.
            turned = to_top(figure, side)
            length = int((turned.sum(axis=1) > 1).argmax())
            if length and not turned[:length, [0, -1]].any():
                # The rectangle's front goes to the tail's end: the figure's box is only shortened at the back.
                rows = slice(top + length * (side == "bottom"), top + height - length * (side == "top"))
                columns = slice(left + length * (side == "right"), left + width - length * (side == "left"))
                movers.append((color, rows, columns))
                break
        else:
            statics.append((color, slice(top, top + height), slice(left, left + width)))
    output = np.zeros_like(grid)
    # Among themselves they lie as in the input: the one that shows where the boxes of two meet is on top.
    for group in (statics, movers):
        for _ in group:
            for first, second in combinations(range(len(group)), 2):
                under = box_of[group[first][0]] & (grid == group[second][0])
                over = box_of[group[second][0]] & (grid == group[first][0])
                if over.sum() > under.sum():
                    group[first], group[second] = group[second], group[first]
    for color, covered_rows, covered_columns in statics + movers:
        output[covered_rows, covered_columns] = color
    return output
