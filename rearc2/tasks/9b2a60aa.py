"""A line of dots tells how a red figure is repeated: in the direction of the line, away from its red end, once in the
colour of each dot, and with as many free cells between the figures as between the dots."""

from itertools import pairwise
from random import Random

from rearc2.helpers import Grid, Retry, canvas, colors, objects, paint, random_shape

RED, SIZE = 2, 3


def generate(rng: Random) -> tuple[Grid, Grid]:
    # Drawn with the dots on the left and the red one on top.
    count = rng.randint(2, 5)
    palette = colors(rng, rng.randint(1, 3), without=(0, RED))
    dots = [RED] + [rng.choice(palette) for _ in range(count)]
    gaps = [rng.randint(1, 4) for _ in range(count)]
    figure = random_shape(rng, SIZE, SIZE, rng.uniform(0.5, 0.8), diagonal=True)
    length = SIZE * (count + 1) + sum(gaps)
    height, width = length + rng.randint(1, 5), rng.randint(10, 17)
    if height > 30 or len(set(gaps)) == 1 < count:
        raise Retry
    before, after = canvas(height, width), canvas(height, width)
    dot_row, dot_column = rng.randint(1, height - 1 - count - sum(gaps)), rng.randint(1, 2)
    top, left = rng.randint(0, height - length), rng.randint(dot_column + 3, width - SIZE)
    paint(before, figure, top, left, RED)
    for color, gap in zip(dots, [*gaps, 0], strict=True):
        before[dot_row, dot_column] = after[dot_row, dot_column] = color
        paint(after, figure, top, left, color)
        dot_row, top = dot_row + 1 + gap, top + SIZE + gap
    if rng.random() < 0.5:
        before, after = before[::-1], after[::-1]
    return (before, after) if rng.random() < 0.5 else (before.T, after.T)


def verify(grid: Grid) -> Grid:
    dots = [thing for thing in objects(grid) if thing.size == 1]
    (figure,) = [thing for thing in objects(grid) if thing.size > 1]
    upright = dots[0].left == dots[-1].left
    if dots[0].color != figure.color:
        dots.reverse()
    output = grid.copy()
    top, left = figure.top, figure.left
    for last, dot in pairwise(dots):
        # As far as from dot to dot, and further by what the figure is longer than a dot.
        step = dot.top - last.top if upright else dot.left - last.left
        longer = (figure.height if upright else figure.width) - 1
        step += longer if step > 0 else -longer
        top, left = (top + step, left) if upright else (top, left + step)
        paint(output, figure.mask, top, left, dot.color)
    return output
