"""A spiral starts at the cell's place in the enlarged grid (corner, middle of a side or centre), with one cell between
its turns: up 2, right 2, down 4, left 4, up 6 and so on; the output shows what lies in 9x9 cells."""

from random import Random

from rearc2.helpers import Grid, canvas, fill, line

CAP = 74  # nine places and nine colours, but for the official ones


def generate(rng: Random) -> tuple[Grid, Grid]:
    row, column, color = rng.randrange(3), rng.randrange(3), rng.randint(1, 9)
    before, after = canvas(3, 3), canvas(9, 9)
    before[row, column] = color
    top, left = 4 * row, 4 * column  # the start of the spiral
    for far in range(0, 10, 2):  # one turn each: up, right, down, left
        fill(after, top - far - 2, left - far, 2 * far + 3, 1, color)
        fill(after, top - far - 2, left - far, 1, 2 * far + 3, color)
        fill(after, top - far - 2, left + far + 2, 2 * far + 5, 1, color)
        fill(after, top + far + 2, left - far - 2, 1, 2 * far + 5, color)
    return before, after


def verify(grid: Grid) -> Grid:
    ((row, column),) = [(int(r), int(c)) for r, c in zip(*grid.nonzero(), strict=True)]
    plane = canvas(40, 40)
    place, steps = (20, 20), [(-1, 0), (0, 1), (1, 0), (0, -1)]
    for number in range(20):
        length = 2 * (number // 2 + 1)
        down, right = steps[number % 4]
        end = place[0] + length * down, place[1] + length * right
        line(plane, place, end, int(grid[row, column]))
        place = end
    return plane[20 - 4 * row : 29 - 4 * row, 20 - 4 * column : 29 - 4 * column]
