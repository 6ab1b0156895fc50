"""The inner colour is put at every free corner of the outer figure: on the cells that touch its cells diagonally but
not by an edge."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, box, canvas, colors, grow, holes, most_common, scatter

SIDE, GROUND = 16, 7


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(4, 8), rng.randint(4, 9)
    figure = scatter(rng, (height, width), rng.uniform(0.05, 0.22))
    figure |= figure[:, ::-1]
    if rng.random() < 0.7:
        figure |= figure[::-1]
    if not figure.any() or box(figure) != (0, 0, height, width):
        raise Retry
    top, left = (SIDE - height) // 2 + rng.randint(-1, 1), (SIDE - width) // 2 + rng.randint(-1, 1)
    outer = np.zeros((SIDE, SIDE), bool)
    outer[top : top + height, left : left + width] = figure
    up, down, west, east = (np.roll(outer, shift, axis) for axis in (0, 1) for shift in (1, -1))
    beside = up | down | west | east | outer
    corners = (np.roll(up, 1, 1) | np.roll(up, -1, 1) | np.roll(down, 1, 1) | np.roll(down, -1, 1)) & ~beside
    # Given are the corners that the figure encloses and single cells between four of its own; if there are none,
    # as around separate dots, the corners inside its box.
    given = (corners & holes(outer)) | (up & down & west & east & ~outer)
    if not given.any():
        given = corners.copy()
        given[: top + 1] = given[top + height - 1 :] = False
        given[:, : left + 1] = given[:, left + width - 1 :] = False
    if not given.any() or given.sum() >= outer.sum() + 1:
        raise Retry
    outer_color, inner_color = colors(rng, 2, without=(GROUND,))
    before = canvas(SIDE, SIDE, GROUND)
    before[outer], before[given] = outer_color, inner_color
    after = before.copy()
    after[corners] = inner_color
    return before, after


def verify(grid: Grid) -> Grid:
    one = most_common(grid, without=(GROUND,))
    other = most_common(grid, without=(GROUND, one))
    _, _, height, width = box(grid == one)
    _, _, other_height, other_width = box(grid == other)
    outer, inner = (one, other) if height * width > other_height * other_width else (other, one)
    figure = grid == outer
    corners = grow(figure) & ~grow(figure, diagonal=False)
    return np.where(corners, inner, grid)
