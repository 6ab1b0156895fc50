"""A list of colours (bars side by side) and part of a stack of equal figures. The stack is completed so that it has the
listed colours from top to bottom, and the list disappears."""

from random import Random

from rearc2.helpers import Grid, Retry, box, canvas, colors, fill, objects, paint, place, symmetric_shape

BAR = 3  # height of the list


def generate(rng: Random) -> tuple[Grid, Grid]:
    count, height, width = rng.randint(3, 5), rng.randint(3, 5), rng.randint(2, 4) * 2
    listed = colors(rng, count)
    figure = symmetric_shape(rng, height, width, rng.uniform(0.4, 0.8))
    if figure.all():
        raise Retry
    grid_height = rng.randint(max(13, count * height), min(30, count * height + 6))
    grid_width = rng.randint(12, 18)
    top, left = rng.randint(0, grid_height - count * height), rng.randint(0, grid_width - width)
    given = rng.randint(1, count - 1)
    first = rng.randint(0, count - given)
    before, after = canvas(grid_height, grid_width), canvas(grid_height, grid_width)
    for number, color in enumerate(listed):
        paint(after, figure, top + number * height, left, color)
        if first <= number < first + given:
            paint(before, figure, top + number * height, left, color)
    taken = before > 0
    ((bar_top, bar_left),) = place(rng, before.shape, [(BAR, count)], margin=1, taken=taken)
    for number, color in enumerate(listed):
        fill(before, bar_top, bar_left + number, BAR, 1, color)
    return before, after


def verify(grid: Grid) -> Grid:
    (bars,) = [
        thing
        for thing in objects(grid, same_color=False)
        if thing.mask.all() and thing.width > 2 and (thing.patch == thing.patch[0]).all()
    ]
    stack = grid.copy()
    stack[bars.slices] = 0
    listed = bars.patch[0].tolist()
    known = listed.index(stack.max())
    top, left, height, width = box(stack == listed[known])
    figure = stack[top : top + height, left : left + width] == listed[known]
    output = canvas(*grid.shape)
    for number, color in enumerate(listed):
        paint(output, figure, top + (number - known) * height, left, color)
    return output
