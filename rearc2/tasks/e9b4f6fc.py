"""The picture is cut out and recoloured by the pairs beside it: a pair's left colour replaces its right one."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, colors, objects, paint, place, random_shape

SIDE = 13


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(2, 3)
    ground, *rest = colors(rng, 1 + 2 * count, without=(0, 9))
    old, new = rest[:count], rest[count:]
    height, width = rng.randint(4, 7), rng.randint(4, 7)
    areas = _areas(rng, height, width, count)
    picture, recolored = canvas(height, width, ground), canvas(height, width, ground)
    for area, old_color, new_color in zip(areas, old, new, strict=True):
        picture[area], recolored[area] = old_color, new_color
    before = canvas(SIDE, SIDE)
    (picture_place, *pair_places) = place(rng, before.shape, [(height, width)] + [(1, 2)] * count)
    paint(before, picture, *picture_place)
    for (row, column), old_color, new_color in zip(pair_places, old, new, strict=True):
        before[row, column : column + 2] = new_color, old_color
    return before, recolored


def _areas(rng: Random, height: int, width: int, count: int) -> list[Mask]:
    """A figure inside the box, cut into `count` parts by straight lines."""
    figure = random_shape(rng, rng.randint(2, height - 1), rng.randint(2, width - 1), rng.uniform(0.6, 0.9))
    top, left = rng.randint(0, height - figure.shape[0]), rng.randint(0, width - figure.shape[1])
    whole = np.zeros((height, width), bool)
    paint(whole, figure, top, left)
    rows, columns = np.indices(whole.shape)
    order = rows * rng.choice((1, 1, 0)) + columns * rng.choice((1, 0, -1))
    if len(np.unique(order[whole])) < count:
        raise Retry
    cuts = sorted(rng.sample(np.unique(order[whole]).tolist()[1:], count - 1))
    part = sum(((order >= cut).astype(int) for cut in cuts), np.zeros(whole.shape, int))
    return [whole & (part == number) for number in range(count)]


def verify(grid: Grid) -> Grid:
    things = objects(grid, same_color=False)
    picture = max(things, key=lambda thing: thing.size)
    output = picture.patch.copy()
    for pair in things:
        if pair.size == 2:
            new, old = pair.patch[0]
            output[picture.patch == old] = new
    return output
