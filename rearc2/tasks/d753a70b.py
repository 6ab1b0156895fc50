"""Red diamonds shrink by one, grey ones grow by one, those of other colours stay. The grid may cut them off."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, colors, grow, label, objects

GROUND, SHRINKS, GROWS = 7, 2, 5
SIDE = 16
CHANGE = {SHRINKS: -1, GROWS: 1}
WRONG = {"train 0": "the grey diamond at the bottom also moves a column to the right while it grows"}


def generate(rng: Random) -> tuple[Grid, Grid]:
    still = colors(rng, 2, without=(0, 1, 3, 4, 6, GROUND, SHRINKS, GROWS))
    palette = [SHRINKS, GROWS, *rng.choices([SHRINKS, GROWS, *still], k=rng.randint(1, 5))]
    rows, columns = np.indices((SIDE, SIDE))
    taken = np.zeros((SIDE, SIDE), bool)
    before, after = canvas(SIDE, SIDE, GROUND), canvas(SIDE, SIDE, GROUND)
    for color in palette:
        small, large = {SHRINKS: (1, 6), GROWS: (0, 4)}.get(color, (0, 2))
        for _ in range(20):
            radius = min(rng.randint(small, large), rng.randint(small, large))
            beyond = 1 if radius > 3 else 0  # a large diamond's centre may lie just outside
            row, column = rng.randint(-beyond, SIDE - 1 + beyond), rng.randint(-beyond, SIDE - 1 + beyond)
            distance = abs(rows - row) + abs(columns - column)
            outline = distance == radius
            visible = outline.sum() >= min(4 * radius, 2 * radius + 1)
            whole = visible and label(outline)[1] == 1 and not grow(outline)[before == color].any()
            space = distance <= max(radius, radius + CHANGE.get(color, 0))
            if whole and not (space & taken).any():
                break
        else:
            raise Retry
        taken |= space
        before[outline] = color
        after[distance == radius + CHANGE.get(color, 0)] = color
    return before, after


def verify(grid: Grid) -> Grid:
    output = canvas(*grid.shape, GROUND)
    rows, columns = np.indices(grid.shape)
    for thing in objects(grid, background=GROUND):
        row, column, radius = _diamond(thing.cells, grid.shape)
        distance = abs(rows - row) + abs(columns - column)
        output[distance == radius + CHANGE.get(thing.color, 0)] = thing.color
    return output


def _diamond(cells: list[tuple[int, int]], shape: tuple[int, int]) -> tuple[int, int, int]:
    """Centre and radius of the smallest diamond of which just these cells lie in the grid."""
    rows, columns = np.indices(shape)
    top, left = cells[0]
    for radius in range(SIDE):
        for down in range(-radius, radius + 1):
            for right in {radius - abs(down), abs(down) - radius}:
                row, column = top + down, left + right
                if all(abs(r - row) + abs(c - column) == radius for r, c in cells):
                    outline: Mask = abs(rows - row) + abs(columns - column) == radius
                    if outline.sum() == len(cells):
                        return row, column, radius
    raise ValueError(f"no diamond has the cells {cells}")
