"""Above the line, three large squares each stand over a small cell. Below it, every cell becomes the square that
belongs to its colour, centred on the cell; the output is the part below the line."""

from random import Random

from rearc2.helpers import Grid, Retry, canvas, colors, fill, objects, place

GROUND, LINE = 7, 6
COLUMNS = (1, 5, 9)  # where the squares and the cells under them have their middle
BELOW = 7  # the first row below the line


def generate(rng: Random) -> tuple[Grid, Grid]:
    six = colors(rng, 6, without=(GROUND,))
    keys, squares = six[:3], six[3:]
    before, after = canvas(20, 11, GROUND), canvas(13, 11, GROUND)
    fill(before, BELOW - 1, 0, 1, 11, LINE)
    for column, key, square in zip(COLUMNS, keys, squares, strict=True):
        fill(before, 0, column - 1, 3, 3, square)
        before[4, column] = key
    numbers = [0, 1, 2, *rng.choices(range(3), k=rng.randint(3, 6))]
    places = place(rng, after.shape, [(3, 3)] * len(numbers), gap=0, tries=30)
    for number, (top, left) in zip(numbers, places, strict=True):
        before[BELOW + top + 1, left + 1] = keys[number]
        fill(after, top, left, 3, 3, squares[number])
    if len(objects(after, GROUND)) < len(numbers):
        raise Retry  # squares of one colour touch
    return before, after


def verify(grid: Grid) -> Grid:
    square = {int(grid[4, column]): int(grid[1, column]) for column in COLUMNS}
    output = canvas(13, 11, GROUND)
    for r in range(13):
        for c in range(11):
            cell = int(grid[BELOW + r, c])
            if cell != GROUND:
                fill(output, r - 1, c - 1, 3, 3, square[cell])
    return output
