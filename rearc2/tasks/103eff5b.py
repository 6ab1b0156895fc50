"""The large sky-blue figure is the small one, turned clockwise by a quarter and enlarged: it takes its colours."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, crop, paint, place, random_shape, symmetries, upscale

SKY = 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    size, factor = rng.choice([(3, 2), (3, 3), (3, 4), (4, 2), (4, 3), (4, 4)])
    mask = random_shape(rng, size, size, rng.uniform(0.4, 0.65), diagonal=True)
    if any(np.array_equal(mask, image) for image in symmetries(mask)[1:4]):
        raise Retry  # the turn could not be seen
    palette = colors(rng, rng.choice([3, 4, 4]), without=(0, SKY))
    small = np.zeros((size, size), np.int64)
    for r, c in np.argwhere(mask):
        # Often the colour of a neighbour: colours come in pieces.
        near = [
            color for color in small[max(0, r - 1) : r + 1, max(0, c - 1) : c + 2].ravel().tolist() if color
        ]
        small[r, c] = rng.choice(near) if near and rng.random() < 0.35 else rng.choice(palette)
    if not set(palette) <= set(small.ravel().tolist()):
        raise Retry
    large = np.zeros((size * factor, size * factor), np.int64)
    for r, c in np.argwhere(mask):
        row, column = int(c) * factor, int(size - 1 - r) * factor
        large[row : row + factor, column : column + factor] = small[r, c]
    long, short = len(large) + size + rng.randint(5, 10), len(large) + rng.randint(2, 5)
    if long > 30:
        raise Retry
    height, width = rng.choice([(long, short), (short, long)])
    spots = place(rng, (height, width), [small.shape, large.shape], margin=1)
    before = canvas(height, width)
    paint(before, small, *spots[0])
    after = before.copy()
    paint(before, large, *spots[1], color=SKY)
    paint(after, large, *spots[1])
    return before, after


def verify(grid: Grid) -> Grid:
    small = crop(np.where(grid == SKY, 0, grid))
    rows, columns = np.nonzero(grid == SKY)
    top, left, factor = rows.min(), columns.min(), (np.ptp(rows) + 1) // small.shape[1]
    output = np.where(grid == SKY, 0, grid)
    paint(output, upscale(np.rot90(small, -1), int(factor)), int(top), int(left))
    return output
