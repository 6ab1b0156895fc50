"""Every colour has a square number of cells. They become solid squares, from the smallest to the largest, on one base
line with a column between them; orange is the background."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, background, canvas, colors

GROUND = 7


def generate(rng: Random) -> tuple[Grid, Grid]:
    sides = sorted(rng.sample([1, 2, 3, 4, 5], rng.choice([2, 3, 3, 4])))
    total = sum(side * side for side in sides)
    height = rng.randint(4, 12)
    width = -(-int(total * rng.uniform(1.6, 2.4)) // height)
    if not 4 <= width <= 16:
        raise Retry
    palette = colors(rng, len(sides), without=(GROUND,))
    before = canvas(height, width, GROUND)
    after = canvas(sides[-1], sum(sides) + len(sides) - 1, GROUND)
    left = 0
    for side, color in zip(sides, palette, strict=True):
        after[sides[-1] - side :, left : left + side] = color
        left += side + 1
    for side, color in reversed(list(zip(sides, palette, strict=True))):
        parts = rng.choice([1, 1, 2, 3]) if side > 1 else 1
        for part in range(parts):
            _patch(rng, before, side * side * (part + 1) // parts - side * side * part // parts, color)
    if background(before) != GROUND:
        raise Retry
    return before, after


def _patch(rng: Random, grid: Grid, size: int, color: int) -> None:
    """Lets a patch grow from cell to cell over free ground."""
    free = [(int(r), int(c)) for r, c in np.argwhere(grid == GROUND)]
    edge = [rng.choice(free)]
    while size:
        if not edge:
            raise Retry
        row, column = edge.pop(rng.randrange(len(edge)))
        if grid[row, column] == GROUND:
            grid[row, column] = color
            size -= 1
            near = [(row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)]
            edge += [cell for cell in near if cell in free]


def verify(grid: Grid) -> Grid:
    found, counts = np.unique(grid[grid != GROUND], return_counts=True)
    order = np.argsort(counts)
    highest = int(np.sqrt(counts.max()))
    parts = []
    for color, count in zip(found[order].tolist(), counts[order].tolist(), strict=True):
        side = int(np.sqrt(count))
        square = np.pad(canvas(side, side, color), ((highest - side, 0), (0, 1)), constant_values=GROUND)
        parts.append(square)
    return np.hstack(parts)[:, :-1]
