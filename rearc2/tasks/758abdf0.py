"""On the black line stand pegs of sky blue. A peg of one cell grows to two; a peg of two cells vanishes and two black
cells appear at the opposite border instead."""

from random import Random

from rearc2.helpers import SIDES, Grid, canvas, splits, to_top, undo_to_top

LINE, GROUND, PEG = 0, 7, 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    depth, length = rng.randint(7, 12), rng.randint(12, 22)
    before = canvas(depth, length, GROUND)
    before[0] = LINE
    after = before.copy()
    count = rng.randint(3, length // 2 - 1)
    # Pegs stand apart: each of the sorted places is moved on by one for every peg before it.
    columns = [c + number for number, c in enumerate(sorted(rng.sample(range(length - count + 1), count)))]
    for number, column in enumerate(rng.sample(columns, count)):
        # At least one peg of each kind.
        if number == 0 or (number > 1 and rng.random() < 0.5):
            before[1:3, column] = PEG
            after[-2:, column] = LINE
        else:
            before[1, column] = PEG
            after[1:3, column] = PEG
    side = rng.choice(SIDES)
    return undo_to_top(before, side), undo_to_top(after, side)


def verify(grid: Grid) -> Grid:
    rows, columns = splits(grid, LINE)
    along = ("top", "bottom") if rows else ("left", "right")
    side = along[(rows or columns)[0] > 0]
    output = to_top(grid, side).copy()
    long = output[2] == PEG
    short = (output[1] == PEG) & ~long
    output[1:3, long] = GROUND
    output[-2:, long] = LINE
    output[1:3, short] = PEG
    return undo_to_top(output, side)
