"""All figures move up or down, in their own columns, to the height of the sky blue one."""

from random import Random

from rearc2.helpers import Grid, Retry, canvas, colors, objects, paint, symmetric_shape

LEADER = 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(12, 20), rng.randint(16, 30)
    figure = symmetric_shape(rng, rng.randint(3, 5), rng.randint(3, 6), rng.uniform(0.7, 1))
    if figure.all():
        raise Retry
    tall, wide = figure.shape
    count = rng.randint(3, 6)
    spare = width - count * wide
    if spare < 2:
        raise Retry
    # Free columns before each figure; the rest is behind the last.
    cuts = sorted(rng.randint(0, spare) for _ in range(count))
    palette = [LEADER, *colors(rng, count - 1, without=(0, LEADER))]
    rng.shuffle(palette)
    tops = [rng.randint(0, height - tall) for _ in range(count)]
    goal = tops[palette.index(LEADER)]
    if tops.count(goal) > 1:
        raise Retry
    before, after = canvas(height, width), canvas(height, width)
    for number, (color, top, cut) in enumerate(zip(palette, tops, cuts, strict=True)):
        paint(before, figure, top, number * wide + cut, color)
        paint(after, figure, goal, number * wide + cut, color)
    return before, after


def verify(grid: Grid) -> Grid:
    figures = objects(grid)
    (leader,) = [figure for figure in figures if figure.color == LEADER]
    output = canvas(*grid.shape)
    for figure in figures:
        paint(output, figure.patch, leader.top, figure.left)
    return output
