"""One of the coloured frames holds a pattern. All frames of its size get the same pattern, each in its own colour;
frames of other sizes disappear."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, crop, frame, objects, paint, place, scatter


def generate(rng: Random) -> tuple[Grid, Grid]:
    shape = rng.randint(18, 26), rng.randint(18, 26)
    height, width = rng.randint(5, 7), rng.randint(5, 9)
    twins, others = rng.randint(1, 3), rng.randint(1, 4)
    sizes = [(height, width)] * (1 + twins)
    for _ in range(others):
        sizes.append((rng.randint(4, 7), rng.randint(4, 10)))
    if any(size in ((height, width), (width, height)) for size in sizes[1 + twins :]):
        raise Retry
    palette = colors(rng, len(sizes))
    pattern = np.ones((height, width), bool)
    pattern[1:-1, 1:-1] = scatter(rng, (height - 2, width - 2), rng.uniform(0.35, 0.6))
    # The pattern hangs on its frame, and there are some gaps.
    if (
        len(objects(pattern.astype(int))) > 1
        or not 4 <= (pattern[1:-1, 1:-1]).sum() < pattern[1:-1, 1:-1].size - 3
    ):
        raise Retry
    before, after = canvas(*shape), canvas(*shape)
    for number, (top, left) in enumerate(place(rng, shape, sizes)):
        if number == 0:
            paint(before, pattern, top, left, palette[number])
        else:
            frame(before, top, left, *sizes[number], palette[number])
        if number <= twins:
            paint(after, pattern, top, left, palette[number])
    return before, after


def verify(grid: Grid) -> Grid:
    used = [color for color in range(1, 10) if (grid == color).any()]
    patterns = {color: crop(grid, grid == color) == color for color in used}
    (model,) = [pattern for pattern in patterns.values() if pattern[1:-1, 1:-1].any()]
    output = np.zeros_like(grid)
    for color, pattern in patterns.items():
        if pattern.shape == model.shape:
            top, left = np.argwhere(grid == color).min(axis=0)
            paint(output, model, int(top), int(left), color)
    return output
