"""Every colour of the top row becomes a bar below it, down to the bottom; the bars descend by one cell per column to
either side of the sky blue stem. The top row disappears."""

from random import Random

from rearc2.helpers import Grid, canvas

BACKGROUND, STEM = 5, 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    half = rng.randint(3, 11)
    side = 2 * half + 1
    top = rng.randint(max(2, half - 3), half)
    before, after = canvas(side, side, BACKGROUND), canvas(side, side, BACKGROUND)
    palette = rng.sample([color for color in range(10) if color != BACKGROUND], rng.randint(4, 9))
    row = [rng.choice(palette) for _ in range(side)]
    if rng.random() < 0.3:
        row[half:] = row[half::-1]
    before[0] = row
    before[0, half] = BACKGROUND
    before[top:, half] = after[top:, half] = STEM
    for distance in range(1, half + 1):
        after[top + distance :, half - distance] = row[half - distance]
        after[top + distance :, half + distance] = row[half + distance]
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    output[0] = BACKGROUND
    stem = int((grid[-1] == STEM).argmax())
    top = int((grid[1:, stem] == STEM).argmax()) + 1
    for column, color in enumerate(grid[0].tolist()):
        if column != stem:
            output[top + abs(column - stem) :, column] = color
    return output
