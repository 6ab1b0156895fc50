"""The framed rectangle gets another frame of its inner colour, as thick as the inner rectangle is, or thinner where the
border of the grid leaves less room."""

from random import Random

from rearc2.helpers import Grid, Retry, background, box, canvas, colors, fill


def generate(rng: Random) -> tuple[Grid, Grid]:
    inner_height = inner_width = rng.randint(1, 5)
    frame = rng.randint(1, 3)
    thick = inner_height
    if inner_height > 1 and rng.random() < 0.2:
        # The border cuts it. Only train 4 does so, with an inner rectangle that is no square: see the rival.
        frame = thick = rng.randint(1, min(inner_height - 1, 3))
        inner_height += 1
    height, width = inner_height + 2 * frame, inner_width + 2 * frame
    cut = thick < inner_width
    # The figure lies towards the top left, so that the border that cuts is there.
    top = thick + (0 if cut else rng.randint(0, 3))
    left = thick + (0 if cut else rng.randint(0, 3))
    rows, columns = top + height + thick + rng.randint(1, 7), left + width + thick + rng.randint(1, 8)
    if max(rows, columns) > 30:
        raise Retry
    inner, outer = colors(rng, 2)
    before, after = canvas(rows, columns), canvas(rows, columns)
    fill(after, top - thick, left - thick, height + 2 * thick, width + 2 * thick, inner)
    for grid in (before, after):
        fill(grid, top, left, height, width, outer)
        fill(grid, top + frame, left + frame, inner_height, inner_width, inner)
    if background(before) != 0:
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    top, left, height, width = box(grid != 0)
    inner = int(grid[top + height // 2, left + width // 2])
    _, _, inner_height, inner_width = box(grid == inner)
    below, beside = grid.shape[0] - top - height, grid.shape[1] - left - width
    thick = min(inner_height, inner_width, top, left, below, beside)
    around = output[top - thick : top + height + thick, left - thick : left + width + thick]
    around[around == 0] = inner
    return output


def rival(grid: Grid) -> Grid:
    """Or is it that the new frame is as thick as the old one where the inner rectangle is not a square?"""
    output = grid.copy()
    top, left, height, width = box(grid != 0)
    inner = int(grid[top + height // 2, left + width // 2])
    inner_top, _, inner_height, inner_width = box(grid == inner)
    thick = inner_height if inner_height == inner_width else inner_top - top
    around = output[max(top - thick, 0) : top + height + thick, max(left - thick, 0) : left + width + thick]
    around[around == 0] = inner
    return output
