"""Of the black squares between blue lines, the outermost become red and the others green."""

from random import Random

from rearc2.helpers import Grid, canvas, fill, objects

LINES, OUTER, INNER = 1, 2, 3


def generate(rng: Random) -> tuple[Grid, Grid]:
    least = rng.choice([0, 0, 150, 324])  # black cells: large pictures are as common as officially
    size = (
        rng.choice([2, 3, 4, 5, 6]) if least == 324 else rng.choice([1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6])
    )
    # (gap, rows, columns), all that fit
    layouts = [
        (gap, rows, columns)
        for gap in range(1, 4)
        for rows in range(3, 15)
        for columns in range(3, 15)
        if max(rows, columns) * (size + gap) - gap <= 28
    ]
    large = [one for one in layouts if one[1] * one[2] * size * size >= least]
    gap, rows, columns = rng.choice(large or layouts)
    height, width = (min(30, 1 + count * (size + gap) - gap + rng.randint(1, 3)) for count in (rows, columns))
    before, after = canvas(height, width, LINES), canvas(height, width, LINES)
    for r in range(rows):
        for c in range(columns):
            top, left = 1 + r * (size + gap), 1 + c * (size + gap)
            fill(before, top, left, size, size, 0)
            outer = r in (0, rows - 1) or c in (0, columns - 1)
            fill(after, top, left, size, size, OUTER if outer else INNER)
    return before, after


def verify(grid: Grid) -> Grid:
    squares = objects(grid, background=LINES)
    output = grid.copy()
    tops, lefts = {square.top for square in squares}, {square.left for square in squares}
    for square in squares:
        outer = square.top in (min(tops), max(tops)) or square.left in (min(lefts), max(lefts))
        output[square.slices] = OUTER if outer else INNER
    return output
