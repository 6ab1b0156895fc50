"""The red block shoots a ray from each of its edge cells to the border, on all four sides; a line with a dot in it
stays empty on that side."""

from random import Random

from rearc2.helpers import Grid, Retry, box, canvas, colors, fill

RED = 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    rows, columns = rng.randint(12, 26), rng.randint(12, 26)
    height, width = rng.randint(3, 10), rng.randint(3, 10)
    if height > rows - 6 or width > columns - 6:
        raise Retry
    top, left = rng.randint(1, rows - height - 2), rng.randint(1, columns - width - 2)
    (dot,) = colors(rng, 1, without=(0, RED))
    before, after = canvas(rows, columns), canvas(rows, columns)
    for grid in (before, after):
        fill(grid, top, left, height, width, RED)
    # The lines that run from the block to a border, each as its free cells.
    lines: list[tuple[int | slice, int | slice]] = []
    for row in range(top, top + height):
        lines += [(row, slice(0, left)), (row, slice(left + width, columns))]
    for column in range(left, left + width):
        lines += [(slice(0, top), column), (slice(top + height, rows), column)]
    dotted = rng.sample(range(len(lines)), min(len(lines) // 2, rng.randint(6, 12)))
    for number, line in enumerate(lines):
        if number in dotted:
            cells = before[line]
            cells[rng.randrange(len(cells))] = dot
            after[line] = cells
        else:
            after[line] = RED
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    top, left, height, width = box(grid == RED)
    for row in range(top, top + height):
        for part in (output[row, :left], output[row, left + width :]):
            if not part.any():
                part[:] = RED
    for column in range(left, left + width):
        for part in (output[:top, column], output[top + height :, column]):
            if not part.any():
                part[:] = RED
    return output
