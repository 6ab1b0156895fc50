"""Three colours run down from the top. Each turns off towards the mark of its colour at the left or right border when
it comes to the mark's row; without a mark it runs to the bottom."""

from random import Random

from rearc2.helpers import Grid, canvas, colors, line


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(9, 20)
    middle = rng.randint(3, side - 4)
    palette = colors(rng, 3)
    left_row, right_row = rng.randint(2, side - 3), rng.randint(2, side - 3)
    way_out = rng.choice(["left", "right", "bottom"])
    # The colour in the middle turns off below the neighbour whose way it would cross.
    above = {"left": left_row, "right": right_row, "bottom": 0}[way_out]
    middle_row = rng.randint(above + 1, side - 1)
    before, after = canvas(side, side), canvas(side, side)
    turns = [(0, left_row), (side - 1, right_row)]
    turns.insert(1, ({"left": 0, "right": side - 1, "bottom": middle}[way_out], middle_row))
    if way_out == "bottom":
        turns[1] = middle, side - 1
    for column, ink, (end, row) in zip((middle - 1, middle, middle + 1), palette, turns, strict=True):
        before[0, column] = ink
        if end != middle:
            before[row, end] = ink
        line(after, (0, column), (row, column), ink)
        line(after, (row, column), (row, end), ink)
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for column, ink in enumerate(grid[0].tolist()):
        if not ink:
            continue
        for row in range(1, len(grid)):
            output[row, column] = ink
            if grid[row, 0] == ink:
                output[row, :column] = ink
                break
            if grid[row, -1] == ink:
                output[row, column:] = ink
                break
    return output
