"""A blue line through the middle is a mirror, with things of two colours on one side. The things of the colour with
fewer cells appear mirrored on the other side."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, colors, paint, place, random_shape, retrying, symmetries

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
    """Random things of the colours in `palette`, where the first colour has fewer cells than the last."""
    shapes = [random_shape(rng, rng.randint(1, 3), rng.randint(2, 4), rng.uniform(0.5, 1)) for _ in palette]
    shapes = [shape if rng.random() < 0.5 else shape.T for shape in shapes]
    fewer = sum(int(shape.sum()) for shape, color in zip(shapes, palette, strict=True) if color == palette[0])
    if 2 * fewer >= sum(int(shape.sum()) for shape in shapes):
        raise Retry
    things = np.zeros(blocked.shape, np.int64)
    places = place(
        rng, blocked.shape, [shape.shape for shape in shapes], margin=rng.randint(0, 1), taken=blocked
    )
    for shape, color, (top, left) in zip(shapes, palette, places, strict=True):
        paint(things, shape, top, left, color)
    return things


def verify(grid: Grid) -> Grid:
    line = grid == MIRROR
    (color,) = sorted(set(np.unique(grid)) - {BACKGROUND, MIRROR}, key=lambda color: (grid == color).sum())[
        :1
    ]
    if line.any(axis=0).all() and line.any(axis=1).all():
        image = grid.T if line[0, 0] else grid[::-1, ::-1].T
    else:
        image = grid[::-1] if line[:, 0].any() else grid[:, ::-1]
    return np.where(image == color, color, grid)
