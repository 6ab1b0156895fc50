"""A blue line through the middle is a mirror, with things of two colours on one side. The things of the colour with
fewer cells appear mirrored on the other side."""

from random import Random

import numpy as np

from rearc2.helpers import (
    Grid,
    Mask,
    Retry,
    colors,
    objects,
    paint,
    place,
    random_shape,
    retrying,
    symmetries,
)

BACKGROUND, MIRROR = 8, 1


def generate(rng: Random) -> tuple[Grid, Grid]:
    diagonal = rng.random() < 0.5
    side = rng.randint(9, 20)
    side += 0 if diagonal else 1 - side % 2
    rows, columns = np.indices((side, side))
    mirror = rows == columns if diagonal else rows == side // 2
    behind = rows < columns if diagonal else rows > side // 2
    most = 1 + side // 7
    rare, common = colors(rng, 2, (0, BACKGROUND, MIRROR))
    palette = [rare] * rng.randint(1, most) + [common] * rng.randint(1, most)
    things = retrying(lambda: _things(rng, behind | mirror, palette), 300)
    before = np.where(things > 0, things, np.where(mirror, MIRROR, BACKGROUND))
    images = things.T if diagonal else things[::-1]
    after = np.where(images == rare, rare, before)
    turn = rng.randrange(8)
    return symmetries(before)[turn].copy(), symmetries(after)[turn].copy()


def _things(rng: Random, blocked: Mask, palette: list[int]) -> Grid:
    """Random things of the colours in `palette`; the first colour has fewer cells than the last, also on average."""
    shapes = [random_shape(rng, rng.randint(1, 3), rng.randint(2, 4), rng.uniform(0.5, 1)) for _ in palette]
    shapes = [shape if rng.random() < 0.5 else shape.T for shape in shapes]
    sizes = [int(shape.sum()) for shape in shapes]
    count = palette.count(palette[0])
    rare, common = sizes[:count], sizes[count:]
    # Officially the things of that colour are the smaller ones on average, too.
    if sum(rare) >= sum(common) or sum(rare) * len(common) >= sum(common) * len(rare):
        raise Retry
    things = np.zeros(blocked.shape, np.int64)
    places = place(
        rng, blocked.shape, [shape.shape for shape in shapes], margin=rng.randint(0, 1), taken=blocked
    )
    for shape, color, (top, left) in zip(shapes, palette, places, strict=True):
        paint(things, shape, top, left, color)
    return things


def verify(grid: Grid) -> Grid:
    return _mirrored(grid, min(_things_of(grid).items(), key=lambda item: sum(item[1]))[0])


def rival_average(grid: Grid) -> Grid:
    """The colour whose things are smaller on average."""
    return _mirrored(grid, min(_things_of(grid).items(), key=lambda item: sum(item[1]) / len(item[1]))[0])


def _things_of(grid: Grid) -> dict[int, list[int]]:
    """The sizes of the things of each colour."""
    sizes: dict[int, list[int]] = {}
    for thing in objects(np.where(grid == MIRROR, BACKGROUND, grid), BACKGROUND, diagonal=False):
        sizes.setdefault(thing.color, []).append(thing.size)
    return sizes


def _mirrored(grid: Grid, color: int) -> Grid:
    line = grid == MIRROR
    if line.any(axis=0).all() and line.any(axis=1).all():
        image = grid.T if line[0, 0] else grid[::-1, ::-1].T
    else:
        image = grid[::-1] if line[:, 0].any() else grid[:, ::-1]
    return np.where(image == color, color, grid)
