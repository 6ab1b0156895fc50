"""The dot in a corner of the grid becomes a right triangle. Its side is the number of the other dots, its colour the
most frequent one among them. All dots vanish, the large figure stays."""

from collections import Counter
from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, grow, objects, paint, random_shape


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(6, 16), rng.randint(8, 16)
    count = rng.randint(2, min(6, height - 3))
    main, color, *rest = rng.sample(range(1, 10), 6)
    times = min(count, rng.choice([2, 2, 3]))
    # All others occur once; one of them may have the colour of the figure.
    dots = [color] * times + rng.sample([*rest, main], count - times)
    tall, wide = rng.randint(4, max(4, height * 2 // 3)), rng.randint(4, max(4, width * 2 // 3))
    figure = canvas(height, width)
    shape = random_shape(rng, tall, wide, 0.2, diagonal=True)
    paint(figure, shape, rng.randint(0, height - tall), rng.randint(0, width - wide), main)
    triangle = canvas(height, width)  # in the upper left corner; the grid is turned over at the end
    for row in range(count):
        triangle[row, : count - row] = color
    before = figure.copy()
    free = ~grow(figure > 0)
    if ((figure > 0) & (triangle > 0)).any() or not free[0, 0]:
        raise Retry
    before[0, 0] = rng.choice([color, *rest])
    free[:2, :2] = False
    free[[0, -1, -1], [-1, 0, -1]] = False
    for dot in dots:
        places = np.argwhere(free).tolist()
        if not places:
            raise Retry
        row, column = rng.choice(places)
        before[row, column] = dot
        free[max(0, row - 1) : row + 2, max(0, column - 1) : column + 2] = False
    after = figure + triangle
    flips = slice(None, None, rng.choice([1, -1])), slice(None, None, rng.choice([1, -1]))
    return before[flips], after[flips]


def verify(grid: Grid) -> Grid:
    figure, *dots = sorted(objects(grid), key=lambda thing: -thing.size)
    last_row, last_column = grid.shape[0] - 1, grid.shape[1] - 1
    (corner,) = [dot for dot in dots if dot.top in (0, last_row) and dot.left in (0, last_column)]
    others = [dot.color for dot in dots if dot is not corner]
    (color, _), *_ = Counter(others).most_common(1)
    rows, columns = np.indices(grid.shape)
    distance = abs(rows - corner.top) + abs(columns - corner.left)
    output = np.where(distance < len(others), color, 0)
    output[figure.slices][figure.mask] = figure.color
    return output
