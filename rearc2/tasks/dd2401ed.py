"""The grey wall moves right until it has twice as many columns to its left, and one more. The red cells that it
passes turn blue if they are at least three; fewer stay red."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, scatter

BLUE, RED, WALL = 1, 2, 5
HEIGHT, WIDTH = 7, 15


def generate(rng: Random) -> tuple[Grid, Grid]:
    turned = rng.random() < 0.75
    wall = rng.randint(1 if turned or rng.random() < 0.3 else 3, 5)
    # What decides whether red turns blue shows in two pairs without and three pairs with it: many passed red cells,
    # many blue cells, or odd numbers of them. Only draws on which these readings agree are used; nor is the share of
    # red cells in the passed strip above that of train 2 without, or below that of train 3 with turning.
    if turned:
        blue, passed = rng.choice([3, 5, 7]), rng.choice([3, 5, 7, 9])
        if 4 * passed < 3 * wall:
            raise Retry
    else:
        blue, passed = (2, 2) if wall >= 3 else (1, 0)
    left = _spread(rng, wall, blue)
    strip = _spread(rng, wall, passed)
    rest = scatter(rng, (HEIGHT, WIDTH - 2 * wall - 2), rng.uniform(0.08, 0.25))
    if not rest.any():
        raise Retry
    line = canvas(HEIGHT, 1, WALL)
    empty = canvas(HEIGHT, 1)
    before = np.hstack([left * BLUE, line, strip * RED, empty, rest * RED])
    after = np.hstack([left * BLUE, empty, strip * (BLUE if turned else RED), line, rest * RED])
    return before, after


def _spread(rng: Random, width: int, count: int) -> Grid:
    if count > HEIGHT * width // 2:
        raise Retry
    cells = canvas(HEIGHT, width)
    cells.flat[rng.sample(range(HEIGHT * width), count)] = 1
    return cells


def _moved(grid: Grid, turned: bool) -> Grid:
    wall = int((grid == WALL).all(axis=0).argmax())
    output = grid.copy()
    output[:, wall] = 0
    output[:, 2 * wall + 1] = WALL
    if turned:
        strip = output[:, : 2 * wall + 1]
        strip[strip == RED] = BLUE
    return output


def _passed(grid: Grid) -> int:
    wall = int((grid == WALL).all(axis=0).argmax())
    return int((grid[:, : 2 * wall + 1] == RED).sum())


def verify(grid: Grid) -> Grid:
    return _moved(grid, turned=_passed(grid) >= 3)


def rival_many_blue(grid: Grid) -> Grid:
    return _moved(grid, turned=int((grid == BLUE).sum()) >= 3)


def rival_odd(grid: Grid) -> Grid:
    return _moved(grid, turned=_passed(grid) % 2 == 1)
