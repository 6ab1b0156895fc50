"""From the bottom two lines rise through the gaps of the bars above them. Each gap is closed, and from there on the
line has the bar's colour."""

from itertools import pairwise
from random import Random

from rearc2.helpers import Grid, Retry, canvas, colors, fill, ray

SIDE = 15


def generate(rng: Random) -> tuple[Grid, Grid]:
    left, right = rng.randint(1, 4), rng.randint(7, 12)
    lefts, rights = _rows(rng), _rows(rng)
    if rng.random() < 0.5:
        rights[-1] = lefts[-1]  # both have a bar in the same row
        if len(set(rights)) < len(rights) or rights != sorted(rights):
            raise Retry
    # (row, first column, last column, colour) of the bars, those in one row side by side.
    bars = []
    palette = colors(rng, 9)
    for row in sorted({*lefts, *rights}):
        first, second = palette[0], palette[1]
        palette = palette[2:] + palette[:2]
        border = rng.randint(left + 1, right - 2)  # the last column of the left bar
        if row in lefts and row in rights and rng.random() < 0.3:
            bars.append((row, 0, SIDE - 1, first))
            continue
        if row in lefts:
            bars.append((row, 0, border, first))
        if row in rights:
            bars.append((row, border + 1, SIDE - 1, second))
    before, after = canvas(SIDE, SIDE), canvas(SIDE, SIDE)
    for column, rows in ((left, lefts), (right, rights)):
        colors_up = [color for row, start, end, color in bars if start <= column <= end]
        colors_up.append(rng.choice(palette[:3]))
        if any(a == b for a, b in pairwise(colors_up)):
            raise Retry
        top = 0
        for color, end in zip(colors_up, [*rows, SIDE - 1], strict=True):
            fill(after, top, column, end + 1 - top, 1, color)
            top = end + 1
        tip = rng.randint(max(*lefts, *rights) + 1, SIDE - 1)
        fill(before, tip, column, SIDE - tip, 1, colors_up[-1])
    for row, start, end, color in bars:
        for column in range(start, end + 1):
            after[row, column] = color
            if column not in (left, right):
                before[row, column] = color
    return before, after


def _rows(rng: Random) -> list[int]:
    """The rows of a few bars, no two of them side by side."""
    count = rng.choice([1, 2, 2, 3, 3, 4])
    return [row + number for number, row in enumerate(sorted(rng.sample(range(2, 13 - count), count)))]


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    # From top to bottom: what rises stops below the gap that was closed before.
    for row in range(SIDE):
        for column in range(SIDE):
            around = output[row, max(0, column - 1) : column + 2].tolist()
            if len(around) == 3 and around[1] == 0 and around[0] == around[2] != 0:
                output[row, column] = around[0]
                ray(output, (row, column), (-1, 0), around[0])
    for column in range(SIDE):
        if grid[-1, column]:
            rows = (grid[::-1, column] != grid[-1, column]).argmax()
            ray(output, (SIDE - int(rows), column), (-1, 0), int(grid[-1, column]))
    return output
