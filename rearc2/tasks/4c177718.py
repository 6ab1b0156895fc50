"""Above the grey line the red arrow says where the last figure goes: directly below the blue one, or above it. The
output is the lower part, with that figure added to the blue one."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors, crop, paint, random_shape

BLUE, RED, GREY = 1, 2, 5
DOWN = np.array([[1, 1, 1], [0, 1, 0], [0, 1, 0]])  # upside down: above


def generate(rng: Random) -> tuple[Grid, Grid]:
    below = rng.random() < 0.5
    blue, other = (random_shape(rng, 3, 3, rng.uniform(0.5, 0.9), diagonal=True) for _ in range(2))
    (color,) = colors(rng, 1, without=(0, BLUE, RED, GREY))
    top, left = rng.randint(0, 3) + (0 if below else 3), rng.randint(0, 12)
    upper, lower = canvas(5, 15), canvas(9, 15)
    paint(upper, blue, 1, 2, BLUE)
    paint(upper, DOWN if below else DOWN[::-1], 1, 6, RED)
    paint(upper, other, 1, 10, color)
    paint(lower, blue, top, left, BLUE)
    after = lower.copy()
    paint(after, other, top + 3 if below else top - 3, left, color)
    return np.vstack([upper, canvas(1, 15, GREY), lower]), after


def verify(grid: Grid) -> Grid:
    line = int((grid == GREY).all(axis=1).argmax())
    upper, output = grid[:line], grid[line + 1 :].copy()
    arrow = crop(upper, upper == RED)
    last = crop(upper, ~np.isin(upper, (0, BLUE, RED)))
    rows, columns = output.nonzero()
    top = rows.max() + 1 if arrow[0].all() else rows.min() - len(last)
    paint(output, last, int(top), int(columns.min()))
    return output
