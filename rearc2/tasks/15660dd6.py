"""In every column of panels one panel is a solid block and the others show a red pattern. The output has one panel per
column: its pattern in the block's colour, in a frame of the colour that labels the block's row on the left."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, join, random_shape

FRAME, PATTERN, GROUND = 1, 2, 8
LABELS = (5, 9, 0)  # of the three rows
BLOCKS = (3, 4, 6, 7)


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.choice([3, 4, 5, 6])
    count = rng.randint(2, min(4, 29 // (side + 3)))
    blocks = rng.sample(BLOCKS, count)
    rows = [rng.randrange(3) for _ in range(count)]
    patterns = [random_shape(rng, side, side, rng.uniform(0.4, 0.65), diagonal=True) for _ in range(count)]
    if any(pattern.all() for pattern in patterns):
        raise Retry
    columns = list(zip(blocks, rows, patterns, strict=True))
    bands = []
    for row in range(3):
        insides = [
            canvas(side, side, block) if row == solid else _drawn(pattern, PATTERN)
            for block, solid, pattern in columns
        ]
        bands.append([_framed(inside, FRAME) for inside in insides])
    before = _framed(join(bands, GROUND), GROUND)
    for row, label in enumerate(LABELS):
        top = 1 + row * (side + 3)
        before[top : top + side + 2, 0] = label
    answers = [_framed(_drawn(pattern, block), LABELS[solid]) for block, solid, pattern in columns]
    return before, join([answers], GROUND)


def _drawn(pattern: Mask, color: int) -> Grid:
    return np.where(pattern, color, GROUND)


def _framed(inside: Grid, color: int) -> Grid:
    return np.pad(inside, 1, constant_values=color)


def verify(grid: Grid) -> Grid:
    size = next(row for row in range(1, len(grid)) if (grid[row] == GROUND).all()) - 1  # with the frame
    height, width = grid.shape
    answers = []
    for left in range(1, width, size + 1):
        panels = {}
        for top in range(1, height, size + 1):
            panels[int(grid[top, 0])] = grid[top + 1 : top + size - 1, left + 1 : left + size - 1]
        (label,) = [label for label, inside in panels.items() if (inside == inside[0, 0]).all()]
        block = panels.pop(label)[0, 0]
        pattern = next(iter(panels.values()))
        answers.append(np.pad(np.where(pattern == PATTERN, block, GROUND), 1, constant_values=label))
    return join([answers], GROUND)
