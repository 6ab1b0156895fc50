"""A bar chart: the columns stand for grey, red, sky blue, maroon and purple, and each is as high as the number of
objects of that colour. The chart is as high as its highest bar."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, label, paint, place, random_shape

GROUND, SIDE = 7, 10
COLUMNS = (5, 2, 8, 9, 6)


def generate(rng: Random) -> tuple[Grid, Grid]:
    counts = dict.fromkeys(rng.sample(COLUMNS, rng.randint(3, 5)), 1)
    for _ in range(rng.randint(0, 8)):
        counts[rng.choice(list(counts)[: rng.randint(1, len(counts))])] += 1
    total = sum(counts.values())
    most = 4 if total < 7 else 3
    sizes = [
        rng.choice([(1, 1), (1, 2), (3, 3), (rng.randint(1, most), rng.randint(1, most))])
        for _ in range(total)
    ]
    before = canvas(SIDE, SIDE, GROUND)
    owners = [color for color, count in counts.items() for _ in range(count)]
    for color, size, (top, left) in zip(owners, sizes, place(rng, before.shape, sizes), strict=True):
        paint(before, random_shape(rng, *size, rng.uniform(0.3, 0.8), diagonal=True), top, left, color)
    tallest = max(counts.values())
    if not 1 < tallest < 8:
        raise Retry
    after = canvas(tallest, len(COLUMNS), GROUND)
    for column, color in enumerate(COLUMNS):
        after[tallest - counts.get(color, 0) :, column] = color
    return before, after


def verify(grid: Grid) -> Grid:
    numbers = np.array([label(grid == color)[1] for color in COLUMNS])
    levels = np.arange(numbers.max(), 0, -1)
    return np.where(numbers[None] >= levels[:, None], COLUMNS, GROUND)
