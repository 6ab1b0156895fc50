"""The blue figure is mirrored to the right and downwards, once for each dot there, in the dot's colour. The dot is
a cell of the mirror image: the only one in its row (to the right) or its column (below)."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, box, canvas, colors, paint, random_shape

BLUE = 1


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(3, 6), rng.randint(3, 6)
    figure = random_shape(rng, height, width, rng.uniform(0.3, 0.55), diagonal=True)
    if (figure == figure[:, ::-1]).all() or (figure == figure[::-1]).all():
        raise Retry
    grid_height, grid_width = rng.randint(10, 18), rng.randint(10, 18)
    top, left = rng.randint(0, 4), rng.randint(0, 3)
    before = canvas(grid_height, grid_width)
    paint(before, figure, top, left, BLUE)
    after = before.copy()
    right_color, below_color = colors(rng, 2, without=(0, BLUE))
    to_right, below = rng.choice([(True, True), (True, True), (True, False), (False, True)])
    if to_right:
        image = figure[:, ::-1]
        image_left = _between(rng, left + width + 1, grid_width - width)
        r = rng.choice(np.flatnonzero(figure.sum(axis=1) == 1).tolist() or [-1])
        if r < 0:
            raise Retry
        paint(after, image, top, image_left, right_color)
        before[top + r, image_left + int(image[r].argmax())] = right_color
    if below:
        image = figure[::-1]
        image_top = _between(rng, top + height + 1, grid_height - height)
        c = rng.choice(np.flatnonzero(figure.sum(axis=0) == 1).tolist() or [-1])
        if c < 0:
            raise Retry
        paint(after, image, image_top, left, below_color)
        before[image_top + int(image[:, c].argmax()), left + c] = below_color
    return before, after


def _between(rng: Random, low: int, high: int) -> int:
    if low > high:
        raise Retry
    return rng.randint(low, high)


def verify(grid: Grid) -> Grid:
    figure = grid == BLUE
    top, _, height, _ = box(figure)
    output = grid.copy()
    for row, column in np.argwhere(grid > BLUE):
        if top <= row < top + height:
            turning_point = column + np.flatnonzero(figure[row])[0]
            for r, c in np.argwhere(figure):
                output[r, turning_point - c] = grid[row, column]
        else:
            turning_point = row + np.flatnonzero(figure[:, column])[0]
            for r, c in np.argwhere(figure):
                output[turning_point - r, c] = grid[row, column]
    return output
