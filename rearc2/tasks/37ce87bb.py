"""A grey bar is added at the right; its height is that of all sky blue bars together less that of all red bars."""

from random import Random

from rearc2.helpers import Grid, Retry, canvas, fill

GROUND, PLUS, MINUS, RESULT = 7, 8, 2, 5


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(2, 8)
    height, width = rng.randint(6, 9 + 2 * (count - 2)), 2 * count + 3
    bars = [(rng.choice([PLUS, MINUS]), rng.randint(1, height - 1)) for _ in range(count)]
    result = sum(tall if color == PLUS else -tall for color, tall in bars)
    if not 1 <= result < height:
        raise Retry
    before = canvas(height, width, GROUND)
    for number, (color, tall) in enumerate(bars):
        fill(before, height - tall, 2 * number + 1, tall, 1, color)
    after = before.copy()
    fill(after, height - result, width - 2, result, 1, RESULT)
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    tall = int((grid == PLUS).sum() - (grid == MINUS).sum())
    output[-tall:, -2] = RESULT
    return output
