"""In the column of the grey cell in the first row, every bar is answered by a cell whose colour tells its length:
2 blue, 3 yellow, 4 maroon, 5 magenta (the last digit of the square of the length less one)."""

from random import Random

from rearc2.helpers import Grid, Retry, canvas, objects

MARK = 5
ANSWER = {2: 1, 3: 4, 4: 9, 5: 6}  # length of the bar -> colour
WRONG = {"train 2": "the bar of five cells is answered by maroon, in train 1 by magenta"}


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(4, 14), rng.randint(3, 14)
    first = rng.randint(1, 2)
    rows = list(range(first, height, 2))
    if len(rows) > 2 and rng.random() < 0.3:
        rows.pop()
    lengths = [rng.choice([length for length in ANSWER if length < width]) for _ in rows]
    # A bar of five appears only beside one of four, as in train 1: see WRONG.
    if 5 in lengths and 4 not in lengths:
        raise Retry
    lefts = [rng.randint(0, min(2, width - 1 - length)) for length in lengths]
    mark = rng.randint(max(left + length for left, length in zip(lefts, lengths, strict=True)), width - 1)
    before = canvas(height, width)
    before[0, mark] = MARK
    after = before.copy()
    one_color = rng.randint(1, 9) if rng.random() < 0.2 else None
    for row, left, length in zip(rows, lefts, lengths, strict=True):
        color = one_color or rng.randint(1, 9)
        for grid in (before, after):
            grid[row, left : left + length] = color
        after[row, mark] = ANSWER[length]
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    mark = int((grid[0] == MARK).argmax())
    for bar in objects(grid[1:], diagonal=False):
        output[bar.top + 1, mark] = (bar.width - 1) ** 2 % 10
    return output
