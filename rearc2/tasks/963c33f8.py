"""The three columns of the maroon block fall. A column with a blue foot stops on the first grey cell below it; one
without falls through all grey cells to the ground, covers those in its place there and clears the bottom row of them
two cells to either side.

The clearing rests on train 1 alone, and may be a slip there: only inputs on which it makes no difference are drawn."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, paint, random_shape

GROUND, GREY, MAROON, BLUE = 7, 5, 9, 1
WRONG = {
    "train 2": "the column without a foot comes down one column to the right of its own",
}
EXCEPTIONS = {"changed cells": "train 1 clears two cells of the bottom row, which no generated pair does"}


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(12, 20)
    left = rng.randint(0, side - 3)
    feet = [rng.random() < 0.5 for _ in range(3)]
    clutter = canvas(side, side, GROUND)
    for _ in range(rng.randint(side // 2, side)):
        lump = random_shape(rng, rng.randint(1, 3), rng.randint(1, 4), rng.uniform(0.4, 0.9), diagonal=True)
        paint(clutter, lump, rng.randint(3, side - 1), rng.randint(0, side - 1), GREY)
    columns = clutter[:, left : left + 3]
    stopped = [foot and (column == GREY).any() for foot, column in zip(feet, columns.T, strict=True)]
    if (columns[3] == GREY).any() or not any(stopped) or (clutter == GREY).mean() > 0.25:
        raise Retry
    before, after = clutter.copy(), clutter.copy()
    before[:3, left : left + 3] = MAROON
    for offset, foot in enumerate(feet):
        column = clutter[:, left + offset]
        beside = clutter[-1, max(0, left + offset - 2) : left + offset + 3].copy()
        beside[min(left + offset, 2)] = GROUND
        if not foot and (beside == GREY).any():
            raise Retry
        rest = int(np.argmax(column == GREY)) if stopped[offset] else side
        after[rest - 3 : rest, left + offset] = MAROON
        if foot:
            before[2, left + offset] = after[rest - 1, left + offset] = BLUE
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    height = len(grid)
    for c in np.flatnonzero(grid[0] == MAROON):
        piece = grid[:3, c].copy()
        output[:3, c] = GROUND
        top = 0
        while top + 3 < height and not (piece[-1] == BLUE and grid[top + 3, c] == GREY):
            top += 1
        output[top : top + 3, c] = piece
        if piece[-1] != BLUE:
            beside = output[-1, max(0, c - 2) : c + 3]
            beside[beside == GREY] = GROUND
    return output
