"""The squares are laid into each other around one centre, from the largest to the smallest. A square may be partly
hidden or stick out of the grid; its longer visible side tells its size."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, box, canvas, colors, frame


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(3, 6)
    smallest = rng.randint(1, 2)
    sizes = [smallest + 2 * number for number in range(count)]
    tones = colors(rng, count)
    side = rng.randint(sizes[-1] + 4, sizes[-1] + 9)
    before, after = canvas(side, side), canvas(sizes[-1], sizes[-1])
    for number, (size, color) in enumerate(zip(sizes, tones, strict=True)):
        inset = count - 1 - number
        frame(after, inset, inset, size, size, color)
    # The longest side of one square may lie across the lower border.
    outside = rng.choice([None, None, count - 1, count - 2])
    for number in rng.sample(range(count), count):
        size = sizes[number]
        top = side - size + rng.randint(1, 2) if number == outside else rng.randint(0, side - size)
        frame(before, top, rng.randint(0, side - size), size, size, tones[number])
    for number, (size, color) in enumerate(zip(sizes, tones, strict=True)):
        visible = before == color
        whole = max(1, 4 * size - 4)
        if visible.sum() < 0.6 * whole or max(box(visible)[2:]) != size:
            raise Retry
        if number != outside and min(box(visible)[2:]) != size:
            raise Retry
        if size <= 2 and visible.sum() < whole:
            raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    sizes = {int(color): max(box(grid == color)[2:]) for color in np.unique(grid[grid > 0])}
    largest = max(sizes.values())
    output = np.zeros((largest, largest), np.int64)
    for color, size in sorted(sizes.items(), key=lambda item: -item[1]):
        inset = (largest - size) // 2
        output[inset : largest - inset, inset : largest - inset] = color
    return output
