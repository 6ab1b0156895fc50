"""Loose cells slide to the 3x3 block of their colour until they touch it: straight along their row or column, and
those that miss the block by one line first step over to it."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors

BACKGROUND, SIDE = 6, 9


def generate(rng: Random) -> tuple[Grid, Grid]:
    palette = colors(rng, 2, without=(0, BACKGROUND))
    before, after = canvas(SIDE, SIDE, BACKGROUND), canvas(SIDE, SIDE, BACKGROUND)
    ways = []
    for corner, color in enumerate(palette):
        # Drawn for the block in the top left corner; the other one is seen upside down.
        old, new = (before, after) if corner == 0 else (before[::-1, ::-1], after[::-1, ::-1])
        old[:3, :3] = new[:3, :3] = color
        lanes = [(lane, across) for lane in range(3) for across in (False, True)]
        for lane, across in rng.sample(lanes, rng.randint(3, 6)):
            distance = rng.randint(4, SIDE - 1)
            row, column = lane, distance
            if lane == 2 and rng.random() < 0.5:
                row, column = 3, rng.randint(4, 6)  # one line beside the block and farther out than that
            if across:
                old, new = old.T, new.T
            if old[row, column] != BACKGROUND:
                raise Retry
            old[row, column], new[lane, 3] = color, color
            ways.append((corner, across, row, column))
            if across:
                old, new = old.T, new.T
    for corner, across, row, column in ways:
        view = before if corner == 0 else before[::-1, ::-1]
        view = view.T if across else view
        if (view[row, 3:column] != BACKGROUND).any():
            raise Retry  # nothing lies in the way
    return before, after


def verify(grid: Grid) -> Grid:
    output = np.full_like(grid, BACKGROUND)
    for corner in (0, 1):
        old, new = (grid, output) if corner == 0 else (grid[::-1, ::-1], output[::-1, ::-1])
        color = old[0, 0]
        new[:3, :3] = color
        for row, column in np.argwhere(old == color).tolist():
            if row > 2 or column > 2:
                if column > row:
                    new[min(row, 2), 3] = color
                else:
                    new[3, min(column, 2)] = color
    return output
