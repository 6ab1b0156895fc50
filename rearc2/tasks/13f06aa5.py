"""Every arrow shoots a dotted beam, in the colour of its tip, away from its body to the border, whose whole side gets
that colour. A corner where two coloured sides meet turns black."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, background, canvas, colors, objects, paint, place

STEPS = {"top": (-1, 0), "right": (0, 1), "bottom": (1, 0), "left": (0, -1)}
ARROW = np.array([[1, 1, 2, 1, 1], [0, 1, 1, 1, 0]])  # the tip is 2; it points up


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(9, 24), rng.randint(9, 24)
    sides = rng.sample(list(STEPS), rng.choice([1, 2, 2, 3, 3, 4]))
    ground, body, *tips = colors(rng, 2 + len(sides))
    arrows = [np.rot90(ARROW, -turns) for turns in map(list(STEPS).index, sides)]
    before = canvas(height, width, ground)
    places = place(rng, before.shape, [arrow.shape for arrow in arrows], margin=1)
    for arrow, tip, (top, left) in zip(arrows, tips, places, strict=True):
        paint(before, np.choose(arrow, [0, body, tip]), top, left)
    after = before.copy()
    crossed = before != ground  # what no beam may cross
    for arrow, tip, side, (top, left) in zip(arrows, tips, sides, places, strict=True):
        row, column = (np.argwhere(arrow == 2)[0] + (top, left)).tolist()
        path = {
            "top": (slice(0, row), column),
            "right": (row, slice(column + 1, width)),
            "bottom": (slice(row + 1, height), column),
            "left": (row, slice(0, column)),
        }[side]
        if crossed[path].any():
            raise Retry
        crossed[path] = True
        # The dots are counted from the tip, so that a path towards row or column 0 is painted from its end.
        after[path][::-2][1:] = tip
        after[path][1::2] = tip
        if side in ("top", "left"):
            after[path] = ground
            after[path][-2::-2] = tip
    corner = np.zeros(before.shape, np.int64)
    for side, tip in zip(sides, tips, strict=True):
        edge = {"top": np.s_[0], "bottom": np.s_[-1], "left": np.s_[:, 0], "right": np.s_[:, -1]}[side]
        after[edge] = tip
        corner[edge] += 1
    after[corner == 2] = 0
    return before, after


def verify(grid: Grid) -> Grid:
    ground = background(grid)
    height, width = grid.shape
    output = grid.copy()
    ends = []
    for arrow in objects(grid, ground, same_color=False):
        (tip,) = [cell for cell in arrow.cells if grid[cell] != arrow.color]
        row, column = tip
        ((down, right),) = [step for step in STEPS.values() if grid[row + step[0], column + step[1]] == ground]
        while 0 <= row < height and 0 <= column < width:
            output[row, column] = grid[tip]
            row, column = row + 2 * down, column + 2 * right
        if down:
            output[0 if down < 0 else height - 1] = grid[tip]
        else:
            output[:, 0 if right < 0 else width - 1] = grid[tip]
        ends.append((down, right))
    for down, _ in ends:
        for _, right in ends:
            if down and right:
                output[0 if down < 0 else -1, 0 if right < 0 else -1] = 0
    return output
