"""Yellow and orange in one row attract each other, and so do blue and sky blue: the right one moves next to the left
one. Other rows stay."""

from random import Random

from rearc2.helpers import Grid, canvas, mostly

PAIRS = [{4, 7}, {1, 8}]
PALETTE = [1, 2, 3, 4, 6, 7, 8, 9]


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = mostly(rng, 3, 7, 14), mostly(rng, 4, 8, 14)
    before = canvas(height, width)
    after = before.copy()
    attracted = {rng.randrange(height)} | {row for row in range(height) if rng.random() < 0.4}
    for row in range(height):
        if row not in attracted and rng.random() < 0.15:
            continue
        left = rng.randint(0, width - 3)
        right = rng.randint(left + 2, width - 1)
        if row in attracted:
            pair = rng.sample(sorted(rng.choice(PAIRS)), 2)
            after[row, left : left + 2] = pair
        else:
            pair = rng.sample(PALETTE, 2)
            while set(pair) in PAIRS:
                pair = rng.sample(PALETTE, 2)
            after[row, [left, right]] = pair
        before[row, [left, right]] = pair
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for row in output:
        columns = row.nonzero()[0]
        if set(row[columns].tolist()) in PAIRS:
            left, right = columns
            color = row[right]
            row[right] = 0
            row[left + 1] = color
    return output
