"""Row by row a triangle grows down from the first row: below the gap between two cells stands the opposite of the left
one, red below grey and grey below red."""

from itertools import pairwise
from random import Random

from rearc2.helpers import Grid, Retry, canvas

BACKGROUND = 7
OPPOSITE = {2: 5, 5: 2}


def generate(rng: Random) -> tuple[Grid, Grid]:
    width = rng.randint(5, rng.choice([8, 9, 10, 12, 24]))
    before = canvas((width + 1) // 2, width, BACKGROUND)
    step = 2 if rng.random() < 0.3 else 1  # single cells with gaps between them, or a row without gaps
    left = 1 if step == 2 else rng.choice([0, 0, 1])
    right = width - rng.choice([0, 0, 1])
    uniform = rng.uniform(0.1, 0.9)
    for column in range(left, right, step):
        if step == 1 or rng.random() < 0.8:
            before[0, column] = 2 if rng.random() < uniform else 5
    after = before.copy()
    for row in range(1, len(before)):
        for column in range(1, width - 1):
            above = after[row - 1, column - 1], after[row - 1, column + 1]
            if BACKGROUND not in above:
                after[row, column] = OPPOSITE[int(above[0])]
    if (after == before).all():
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for above, below in pairwise(output):
        pair = (above[:-2] != BACKGROUND) & (above[2:] != BACKGROUND)
        below[1:-1][pair] = 7 - above[:-2][pair]  # 2 and 5 are opposite: they make 7 together
    return output
