"""Every grey square is divided into four quarters, each in the colour of the dot at its corner; the dots go."""

from random import Random

from rearc2.helpers import Grid, canvas, colors, fill, objects, place

GREY = 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.choice([1, 1, 1, 2, 3, 4])
    side = rng.choice([10, 11, 12]) if count == 1 else rng.randint(13, 20)
    halves = [rng.randint(1, 3) for _ in range(count)]
    before, after = canvas(side, side), canvas(side, side)
    places = place(rng, before.shape, [(2 * half + 2, 2 * half + 2) for half in halves])
    for half, (top, left) in zip(halves, places, strict=True):
        fill(before, top + 1, left + 1, 2 * half, 2 * half, GREY)
        for number, color in enumerate(colors(rng, 4, without=(0, GREY))):
            down, right = divmod(number, 2)
            before[top + down * (2 * half + 1), left + right * (2 * half + 1)] = color
            fill(after, top + 1 + down * half, left + 1 + right * half, half, half, color)
    return before, after


def verify(grid: Grid) -> Grid:
    output = canvas(*grid.shape)
    for square in objects(grid):
        if square.color != GREY:
            continue
        for row, column in square.cells:
            nearest_row = square.top - 1 if row < square.top + square.height / 2 else square.bottom + 1
            nearest_column = square.left - 1 if column < square.left + square.width / 2 else square.right + 1
            output[row, column] = grid[nearest_row, nearest_column]
    return output
