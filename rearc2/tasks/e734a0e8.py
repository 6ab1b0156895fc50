"""One panel shows a picture. It is copied into every panel that has a black dot in its middle, and the dot goes."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, join, random_shape, split, symmetric_shape

ORANGE, BLACK = 7, 0


def generate(rng: Random) -> tuple[Grid, Grid]:
    side, count = rng.choice([(3, 3), (3, 4), (3, 5), (3, 6), (5, 2), (5, 3), (5, 3), (5, 4), (5, 4), (5, 5)])
    density = rng.uniform(0.3, 0.6)
    if rng.random() < 0.5:
        shape = symmetric_shape(rng, side, side, density)
    else:
        shape = random_shape(rng, side, rng.randint(1, side), density, diagonal=True)
        shape = np.pad(shape, ((0, 0), (0, side - shape.shape[1])))
        shape = np.roll(shape, (side - int(shape.any(axis=0).sum())) // 2, axis=1)
    if shape.all():
        raise Retry
    (color,) = colors(rng, 1, without=(BLACK, ORANGE))
    picture = np.where(shape, color, ORANGE)
    blank = canvas(side, side, ORANGE)
    dotted = blank.copy()
    dotted[side // 2, side // 2] = BLACK
    dots = rng.randint(min(2, count), max(3, count * count // 3))
    kinds = ["picture"] + ["dotted"] * dots + ["blank"] * (count * count - 1 - dots)
    rng.shuffle(kinds)
    earlier = {"picture": picture, "dotted": dotted, "blank": blank}
    later = {"picture": picture, "dotted": picture, "blank": blank}
    rows = [kinds[start : start + count] for start in range(0, count * count, count)]
    before = join([[earlier[kind] for kind in row] for row in rows], BLACK)
    return before, join([[later[kind] for kind in row] for row in rows], BLACK)


def verify(grid: Grid) -> Grid:
    panels = split(grid, BLACK)
    (picture,) = [panel for row in panels for panel in row if not np.isin(panel, (ORANGE, BLACK)).all()]
    return join([[picture if (panel == BLACK).any() else panel for panel in row] for row in panels], BLACK)
