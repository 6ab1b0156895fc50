"""Lines divide the field into panels. The output has one cell for each panel, in the colour of the field."""

from itertools import pairwise
from random import Random

from rearc2.helpers import Grid, Retry, canvas, colors, split, splits


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(8, 30)
    field, line = colors(rng, 2, without=())
    rows, columns = _lines(rng, side), _lines(rng, side)
    before = canvas(side, side, field)
    before[rows] = before[:, columns] = line
    # A line at the border divides nothing.
    tall, wide = (1 + len([place for place in lines if 0 < place < side - 1]) for lines in (rows, columns))
    return before, canvas(tall, wide, field)


def _lines(rng: Random, side: int) -> list[int]:
    lines = sorted(rng.sample(range(side), rng.randint(1, min(6, side // 4))))
    touching = any(second - first == 1 for first, second in pairwise(lines))
    if touching or set(lines) <= {0, side - 1}:
        raise Retry
    return lines


def verify(grid: Grid) -> Grid:
    line = int(grid[splits(grid)[0][0], 0])
    panels = split(grid, line)
    return canvas(len(panels), len(panels[0]), int(panels[0][0][0, 0]))
