"""Every sky blue box has a bulge at both ends and half a red figure inside: the other half is added, the mirror
image in the direction from bulge to bulge."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, label, objects, paint, place, retrying, scatter

BOX, FIGURE = 8, 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(14, 30), rng.randint(14, 30)
    boxes = []
    for _ in range(rng.randint(1, 1 + height * width // 180)):
        box, half = _box(rng)
        if rng.random() < 0.5:
            box, half = box[::-1], half[::-1]
        boxes.append((box, half) if rng.random() < 0.5 else (box.T, half.T))
    before, after = canvas(height, width), canvas(height, width)
    places = place(rng, before.shape, [box.shape for box, _ in boxes])
    for (box, half), (top, left) in zip(boxes, places, strict=True):
        for grid in (before, after):
            paint(grid, box, top, left, BOX)
            paint(grid, half, top, left, FIGURE)
        paint(after, half[::-1, ::-1], top, left, FIGURE)
    return before, after


def _box(rng: Random) -> tuple[Mask, Mask]:
    """A box with bulges above and below, and the upper half of the figure in it; both as masks of the whole."""
    height, width = rng.randint(10, 14), rng.choice([7, 7, 9, 9, 11])
    middle = width // 2
    box = np.zeros((height, width), bool)
    box[[1, -2]] = box[1:-1, [0, -1]] = True
    box[[0, -1], middle - 1 : middle + 2] = True
    box[[1, -2], middle] = False
    end = height // 2  # the half reaches the middle, up to the row that is its own mirror image
    depth = rng.randint(2, min(3, end - 3))
    spread = rng.randint(1, middle - 2)  # to either side
    part = retrying(lambda: _part(rng, depth, 2 * spread + 1))
    half = np.zeros(box.shape, bool)
    half[end - depth : end, middle - spread : middle + spread + 1] = part
    return box, half


def _part(rng: Random, height: int, width: int) -> Mask:
    part = scatter(rng, (height, width), 0.4)
    part |= part[:, ::-1]
    if label(part)[1] != 1 or not (part.any(axis=1).all() and part[:, 0].any()):
        raise Retry
    return part


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for box in objects(grid):
        if box.color == BOX:
            figure = grid[box.slices] == FIGURE
            upright = box.mask[0].sum() == 3  # a bulge is three cells wide
            output[box.slices][figure[::-1] if upright else figure[:, ::-1]] = FIGURE
    return output
