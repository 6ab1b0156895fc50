"""The red frame is filled with red up to the smallest box around the grey cells in it, which stays as it is."""

from random import Random

from rearc2.helpers import Grid, Retry, box, canvas, fill, frame

RED, GREY = 2, 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(6, 14), rng.randint(6, 14)
    top, left = rng.randint(1, 2), rng.randint(1, 2)
    grid_shape = top + height + rng.choice([1, 1, 2, 3, 4]), left + width + rng.randint(1, 2)
    # The box of the grey cells, not touching the frame.
    box_height, box_width = rng.randint(2, height - 4), rng.randint(2, width - 4)
    box_top = top + rng.randint(2, height - 2 - box_height)
    box_left = left + rng.randint(2, width - 2 - box_width)
    cells = [
        (r, c) for r in range(box_top, box_top + box_height) for c in range(box_left, box_left + box_width)
    ]
    before, after = canvas(*grid_shape), canvas(*grid_shape)
    frame(before, top, left, height, width, RED)
    fill(after, top, left, height, width, RED)
    fill(after, box_top, box_left, box_height, box_width, 0)
    for cell in rng.sample(cells, min(rng.randint(2, 7), len(cells) - 1)):
        before[cell] = after[cell] = GREY
    if box(before == GREY) != (box_top, box_left, box_height, box_width):
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    fill(output, *box(grid == RED), RED)
    top, left, height, width = box(grid == GREY)
    output[top : top + height, left : left + width] = grid[top : top + height, left : left + width]
    return output
