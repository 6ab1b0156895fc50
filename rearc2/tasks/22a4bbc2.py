"""Bars lie one below the other; the first and every third after it turn red."""

from random import Random

from rearc2.helpers import Grid, Retry, canvas, fill, objects

RED = 2
PAINTS = [1, 8]  # of the bars, in turn


def generate(rng: Random) -> tuple[Grid, Grid]:
    width = rng.randint(3, 7)
    heights = [rng.choice([1, 1, 1, 2, 2, 2, 3]) for _ in range(rng.randint(7, 19))]
    if sum(heights) > 30:
        raise Retry
    before = canvas(sum(heights), width)
    after = before.copy()
    first = rng.randrange(2)
    top = 0
    for number, height in enumerate(heights):
        length = rng.randint(2, width)
        left = rng.randint(0, width - length)
        color = PAINTS[(first + number) % 2]
        fill(before, top, left, height, length, color)
        fill(after, top, left, height, length, color if number % 3 else RED)
        top += height
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for bar in sorted(objects(grid), key=lambda thing: thing.top)[::3]:
        output[bar.slices] = RED
    return output
