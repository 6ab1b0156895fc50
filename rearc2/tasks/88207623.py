"""Each yellow figure is mirrored at its red line; the image takes the colour of the dot on that side."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors, objects, paint, place, random_shape

LINE, FIGURE = 2, 4


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, total = rng.randint(12, 20), rng.randint(14, 20)
    count = rng.randint(2, 1 + height * total // 75)
    shapes = [
        random_shape(rng, rng.randint(3, 6), rng.randint(2, 5), rng.uniform(0.4, 0.7), diagonal=True)
        for _ in range(count)
    ]
    spots = place(rng, (height, total), [(shape.shape[0], 2 * shape.shape[1] + 1) for shape in shapes])
    before, after = canvas(height, total), canvas(height, total)
    palette = colors(rng, count, without=(0, LINE, FIGURE))
    for shape, (top, left), color in zip(shapes, spots, palette, strict=True):
        tall, wide = shape.shape
        # The figure left of the line, the image right of it; mirrored half of the time.
        given, full = canvas(tall, 2 * wide + 1), canvas(tall, 2 * wide + 1)
        for grid in (given, full):
            paint(grid, shape, 0, 0, FIGURE)
            grid[:, wide] = LINE
        paint(full, shape[:, ::-1], 0, wide + 1, color)
        dot = rng.choice(np.argwhere(full[:, wide + 2 :] == color).tolist())
        given[dot[0], wide + 2 + dot[1]] = color
        side = rng.choice([1, -1])
        paint(before, given[:, ::side], top, left)
        paint(after, full[:, ::side], top, left)
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for thing in objects(np.where((grid == LINE) | (grid == FIGURE), grid, 0), same_color=False):
        axis = thing.left + int(np.flatnonzero((thing.patch == LINE).any(axis=0))[0])
        image = [(row, 2 * axis - column) for row, column in thing.cells if grid[row, column] == FIGURE]
        (color,) = {int(grid[cell]) for cell in image} - {0}
        for cell in image:
            output[cell] = color
    return output
