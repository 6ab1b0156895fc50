"""The ring slides to the border; its colour tells where to: pink up, sky blue right, yellow down, green left."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, frame, to_top, undo_to_top

SIDE_OF = {6: "top", 8: "right", 4: "bottom", 3: "left"}
SIDE = 10
CAP = 216  # 4 colours x 64 places, less 32 rings that are there already and 8 official inputs


def generate(rng: Random) -> tuple[Grid, Grid]:
    color = rng.choice(list(SIDE_OF))
    top, left = rng.randint(0, SIDE - 3), rng.randint(0, SIDE - 3)
    goal = {6: (0, left), 8: (top, SIDE - 3), 4: (SIDE - 3, left), 3: (top, 0)}[color]
    before, after = canvas(SIDE, SIDE), canvas(SIDE, SIDE)
    frame(before, top, left, 3, 3, color)
    frame(after, *goal, 3, 3, color)
    return before, after


def verify(grid: Grid) -> Grid:
    side = SIDE_OF[int(grid.max())]
    turned = to_top(grid, side)
    first = int(np.argmax(turned.any(axis=1)))
    return undo_to_top(np.roll(turned, -first, axis=0), side)
