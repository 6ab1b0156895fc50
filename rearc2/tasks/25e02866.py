"""The squares, all of one size and colour, bear marks in different places. The output is one such square with the
marks of all."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, background, canvas, colors, fill, grow, objects, paint, place


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(2, 5)
    size = rng.randint(max(4, count + 1), 7)
    side = rng.randint(max(14, 9 + 2 * count), 24)
    ground, paper, *inks = colors(rng, count + 2)
    after = canvas(size, size, paper)
    before = canvas(side, side, ground)
    free = np.zeros((size, size), bool)
    free[1:-1, 1:-1] = True
    for ink, (top, left) in zip(
        inks, place(rng, before.shape, [(size, size)] * count, margin=1), strict=True
    ):
        cells = [tuple(cell) for cell in np.argwhere(free).tolist()]
        mark = np.zeros_like(free)
        mark[rng.choice(cells)] = True
        for _ in range(rng.randint(0, 3)):
            near = np.argwhere(grow(mark, diagonal=False) & free & ~mark).tolist()
            if near and free.sum() - mark.sum() > count:  # leave room for the others
                mark[tuple(rng.choice(near))] = True
        free &= ~mark
        fill(before, top, left, size, size, paper)
        paint(before, mark, top, left, ink)
        paint(after, mark, 0, 0, ink)
    if background(before) != ground:
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    squares = [grid[thing.slices] for thing in objects(grid, background(grid), same_color=False)]
    paper = squares[0][0, 0]
    output = squares[0].copy()
    for square in squares[1:]:
        output[square != paper] = square[square != paper]
    return output
