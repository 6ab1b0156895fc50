"""The coloured dots inside the blue frame are counted; the 3x3 output shows as many, in reading order."""

from random import Random

from rearc2.helpers import Grid, Retry, background, box, canvas, colors, frame, most_common

FRAME = 1


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(7, 12)
    height, width = rng.randint(4, side - 1), rng.randint(4, side - 1)
    top, left = rng.randint(0, side - height), rng.randint(0, side - width)
    (color,) = colors(rng, 1, without=(0, FRAME))
    before, after = canvas(side, side), canvas(3, 3)
    frame(before, top, left, height, width, FRAME)
    inner = [(r, c) for r in range(top + 1, top + height - 1) for c in range(left + 1, left + width - 1)]
    outer = [
        (r, c) for r in range(side) for c in range(side) if before[r, c] == 0 and (r, c) not in set(inner)
    ]
    count = rng.randint(1, 8)
    strays = rng.randint(2, 8)
    if count > 0.6 * len(inner) or strays > 0.4 * len(outer):
        raise Retry
    for place in rng.sample(inner, count) + rng.sample(outer, strays):
        before[place] = color
    if background(before) != 0:
        raise Retry
    after.flat[:count] = color
    return before, after


def verify(grid: Grid) -> Grid:
    top, left, height, width = box(grid == FRAME)
    inside = grid[top : top + height, left : left + width]
    color = most_common(grid, without=(0, FRAME))
    output = canvas(3, 3)
    output.flat[: int((inside == color).sum())] = color
    return output
