"""The picture stays at the top left and grows by stripes to the right and down, each as long as the picture has become;
they repeat the colours of its corner, its centre and the rest. The diagonal already has the next stripe's colour."""

from random import Random

from rearc2.helpers import Grid, canvas, colors, line

CAP = 717  # the picture is always the same; only its three colours vary
SIZE = 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    corner, centre, rest = colors(rng, 3, without=())
    before = canvas(SIZE, SIZE, rest)
    for row in (0, SIZE - 1):
        for column in (0, SIZE - 1):
            before[row, column] = corner
    line(before, (1, 2), (3, 2), centre)
    line(before, (2, 1), (2, 3), centre)
    after = canvas(2 * SIZE, 2 * SIZE)
    after[:SIZE, :SIZE] = before
    stripes = [corner, centre, rest]
    for number in range(SIZE):
        end = SIZE + number
        line(after, (end, 0), (end, end - 1), stripes[number % 3])
        line(after, (0, end), (end - 1, end), stripes[number % 3])
        after[end, end] = stripes[(number + 1) % 3]
    return before, after


def verify(grid: Grid) -> Grid:
    size = len(grid)
    cycle = [grid[0, 0], grid[size // 2, size // 2], grid[0, size // 2]]
    output = canvas(2 * size, 2 * size)
    for row in range(2 * size):
        for column in range(2 * size):
            # How far outside the picture the cell lies; one more on the diagonal.
            ring = max(row, column) - size + (row == column)
            output[row, column] = grid[row, column] if max(row, column) < size else cycle[ring % 3]
    return output
