"""Every coloured frame becomes a bar of its colour, as long as it holds grey dots; the bars are sorted, the shortest
on top."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, box, canvas, colors, fill, place

DOT = 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(18, 28)
    count = rng.randint(2, 5)
    lengths = sorted(rng.sample(range(1, 10), count))
    palette = colors(rng, count, without=(0, DOT))
    # Widths of the four borders, then the hollow.
    borders = [[rng.choice([1, 1, 1, 2, 2, 3]) for _ in range(4)] for _ in palette]
    hollows = [(rng.randint(3, 9), rng.randint(3, 12 if count < 4 else 8)) for _ in palette]
    sizes = [
        (up + height + down, before + width + behind)
        for (up, down, before, behind), (height, width) in zip(borders, hollows, strict=True)
    ]
    grid, bars = canvas(side, side), canvas(count, lengths[-1])
    places = place(rng, grid.shape, sizes)
    for number, (color, length) in enumerate(zip(palette, lengths, strict=True)):
        (top, left), (height, width) = places[number], hollows[number]
        fill(grid, top, left, *sizes[number], color)
        top, left = top + borders[number][0], left + borders[number][2]
        fill(grid, top, left, height, width, 0)
        cells = [(row, column) for row in range(top, top + height) for column in range(left, left + width)]
        if length > len(cells) // 3:
            raise Retry
        for cell in rng.sample(cells, length):
            grid[cell] = DOT
        fill(bars, number, 0, 1, length, color)
    return grid, bars


def verify(grid: Grid) -> Grid:
    counts = []
    for color in sorted(set(np.unique(grid).tolist()) - {0, DOT}):
        top, left, height, width = box(grid == color)
        held = int((grid[top : top + height, left : left + width] == DOT).sum())
        counts.append((held, color))
    counts.sort()
    return np.array([[color] * held + [0] * (counts[-1][0] - held) for held, color in counts])
