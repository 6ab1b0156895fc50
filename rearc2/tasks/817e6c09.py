"""Counted from the right, every other red square becomes sky blue, beginning with the first."""

from random import Random

from rearc2.helpers import Grid, Retry, canvas, fill, objects

RED, SKY = 2, 8
HEIGHT = 7


def generate(rng: Random) -> tuple[Grid, Grid]:
    width = rng.randint(5, 24)
    places: list[tuple[int, int]] = []
    column = rng.randint(0, 2)
    while column < width - 1:
        row = rng.randrange(HEIGHT - 1)
        # Squares touch at corners at most, and no two begin in the same column.
        if all(_apart(abs(row - r), abs(column - c)) for r, c in places):
            places.append((row, column))
            column += rng.randint(1, 3)
        else:
            column += rng.randint(0, 1)
    if len(places) < 2:
        raise Retry
    before, after = canvas(HEIGHT, width), canvas(HEIGHT, width)
    for number, (row, column) in enumerate(reversed(places)):
        fill(before, row, column, 2, 2, RED)
        fill(after, row, column, 2, 2, RED if number % 2 else SKY)
    return before, after


def _apart(down: int, right: int) -> bool:
    return max(down, right) > 2 or (down, right) == (2, 2)


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    squares = sorted(objects(grid, diagonal=False), key=lambda square: square.left, reverse=True)
    for square in squares[::2]:
        output[square.slices] = SKY
    return output
