"""Squares of three sizes, each size in its own colour, lie among noise. The answer sets them side by side, as many as
there are: every 4x4 square holds a 3x3 square in its corner, and that a 2x2 square, as long as there are any."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, background, canvas, colors, fill, objects, place, scatter

WRONG = {
    "train 0": "one of the five 2x2 squares is missing in the output; train 2 and test 0 count every square",
    "train 1": "one of the five 2x2 squares is missing in the output; train 2 and test 0 count every square",
}


def generate(rng: Random) -> tuple[Grid, Grid]:
    shape = rng.randint(24, 30), rng.randint(24, 30)
    free, noise, *palette = colors(rng, 5, ())
    counts = {2: rng.randint(2, 6), 3: rng.randint(2, 6), 4: rng.randint(2, 6)}
    # The wrong pairs would be right if 2x2 squares that are the most lost one, or if a last odd column fell away
    # (all official answers have 4 or 6). Neither can be seen here.
    if counts[2] > max(counts[3], counts[4]) or max(counts.values()) % 2:
        raise Retry
    sizes = [size for size, count in counts.items() for _ in range(count)]
    before = canvas(*shape, free)
    for size, (top, left) in zip(sizes, place(rng, shape, [(size, size) for size in sizes]), strict=True):
        fill(before, top, left, size, size, palette[size - 2])
    spread = rng.uniform(0.06, 0.12)
    specks = scatter(rng, shape, spread) & (before == free)
    # No block of noise may look like a square.
    if (specks[1:, 1:] & specks[:-1, 1:] & specks[1:, :-1] & specks[:-1, :-1]).any():
        raise Retry
    before[specks] = noise
    parts = []
    for number in range(max(counts.values())):
        width = max(size for size, count in counts.items() if number < count)
        part = canvas(5, width + 1, free)
        for size in (4, 3, 2):
            if number < counts[size]:
                fill(part, 0, 0, size, size, palette[size - 2])
        parts.append(part)
    after = np.hstack(parts)
    if after.shape[1] > 30:
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    free = background(grid)
    found: dict[int, list[int]] = {2: [], 3: [], 4: []}
    for thing in objects(grid, free):
        if thing.height == thing.width and thing.height in found and thing.mask.all():
            found[thing.height].append(thing.color)
    output = np.full((5, 30), free)
    left = 0
    while any(found.values()):
        widest = max(size for size in found if found[size])
        for size in (4, 3, 2):
            if found[size]:
                output[:size, left : left + size] = found[size].pop()
        left += widest + 1
    return output[:, :left]
