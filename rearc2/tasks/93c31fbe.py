"""Four corner brackets make a box. The blue pattern in one half of it is mirrored into the other half, across the
middle of the longer side; blue cells outside the boxes disappear."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, colors, paint, place, scatter

BLUE = 1


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(16, 30), rng.randint(16, 30)
    (bracket,) = colors(rng, 1, without=(0, BLUE))
    halves = [(_half(rng), rng.random() < 0.5) for _ in range(rng.randint(1, 1 + height * width // 140))]
    before, after = canvas(height, width), canvas(height, width)
    boxes = []  # pairs of patches: before, after
    for (half, gap), transposed in halves:
        partial = np.pad(half, ((1, 1), (1, 1 + gap + half.shape[1]))).astype(int)
        if rng.random() < 0.5:
            partial = partial[:, ::-1]
        full = partial | partial[:, ::-1]
        for patch in (partial, full):
            patch[np.ix_([0, -1], [0, 1, -2, -1])] = bracket
            patch[np.ix_([1, -2], [0, -1])] = bracket
        boxes.append((partial.T, full.T) if transposed else (partial, full))
    outside = np.ones((height, width), bool)
    places = place(rng, (height, width), [partial.shape for partial, _ in boxes], margin=1)
    for (partial, full), (top, left) in zip(boxes, places, strict=True):
        paint(before, partial, top, left)
        paint(after, full, top, left)
        outside[top - 1 : top + full.shape[0] + 1, left - 1 : left + full.shape[1] + 1] = False
    before[outside & scatter(rng, (height, width), rng.uniform(0.01, 0.07))] = BLUE
    return before, after


def _half(rng: Random) -> tuple[Mask, int]:
    """A pattern that lies on both sides of its own level middle line, and the width (0 or 1) of the box's middle."""
    short = rng.randint(5, 8)
    long = rng.randint(short + 1, 14)
    half = scatter(rng, (short - 2, (long - 2) // 2), rng.uniform(0.25, 0.5))
    rows = np.flatnonzero(half.any(axis=1))
    # Else it could as well be mirrored across the shorter side.
    if half.sum() < 2 or 2 * rows[0] > short - 3 or 2 * rows[-1] < short - 3:
        raise Retry
    return half, long % 2


def verify(grid: Grid) -> Grid:
    output = canvas(*grid.shape)
    for box in _boxes(grid):
        part, result = grid[box], output[box]
        image = part[:, ::-1] if part.shape[1] > part.shape[0] else part[::-1]
        result[:] = np.maximum(part, image)
    return output


def rival(grid: Grid) -> Grid:
    """The half that is empty, of all four, is filled."""
    output = canvas(*grid.shape)
    for box in _boxes(grid):
        part = grid[box]
        blue = part == BLUE
        middle = part.shape[1] // 2
        one_sided = not blue[:, :middle].any() or not blue[:, -middle:].any()
        mixed = blue[:, middle].any() and part.shape[1] % 2
        output[box] = np.maximum(part, part[:, ::-1] if one_sided and not mixed else part[::-1])
    return output


def _boxes(grid: Grid) -> list[tuple[slice, slice]]:
    bracket = grid > BLUE
    above, before = np.roll(bracket, 1, axis=0), np.roll(bracket, 1, axis=1)
    below, after = np.roll(bracket, -1, axis=0), np.roll(bracket, -1, axis=1)
    boxes = []
    for top, left in np.argwhere(bracket & below & after):
        right = left + 1 + np.flatnonzero((bracket & below & before)[top, left + 1 :])[0]
        bottom = top + 1 + np.flatnonzero((bracket & above & after)[top + 1 :, left])[0]
        boxes.append((slice(top, bottom + 1), slice(left, right + 1)))
    return boxes
