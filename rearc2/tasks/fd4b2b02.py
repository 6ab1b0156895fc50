"""From the corners of the bar four chains run diagonally to the border: each next bar is turned by a quarter, touches
the last one corner to corner and has the other of the two colours."""

from random import Random

from rearc2.helpers import Grid, canvas, fill, objects

GREEN, PINK = 3, 6


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(14, 30)
    long, short = rng.choice([(2, 1), (3, 1), (4, 1), (3, 2), (4, 2), (5, 2), (4, 3), (5, 3)])
    height, width = (long, short) if rng.random() < 0.6 else (short, long)
    top, left = rng.randint(4, side - 4 - height), rng.randint(4, side - 4 - width)
    tints = rng.sample([GREEN, PINK], 2)
    before, after = canvas(side, side), canvas(side, side)
    fill(before, top, left, height, width, tints[0])
    # Two bars of a chain are as high and as wide as long and short together.
    for number in range(side):
        pairs, odd = divmod(number, 2)
        size = (width, height) if odd else (height, width)
        reach_down = pairs * (long + short) + (height if odd else 0)
        reach_right = pairs * (long + short) + (width if odd else 0)
        back_up = pairs * (long + short) + (width if odd else 0)
        back_left = pairs * (long + short) + (height if odd else 0)
        for row in (top + reach_down, top - back_up):
            for column in (left + reach_right, left - back_left):
                fill(after, row, column, *size, tints[odd])
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    (bar,) = objects(grid)
    for down in (-1, 1):
        for right in (-1, 1):
            height, width, color = bar.height, bar.width, bar.color
            top, left = bar.top, bar.left
            while -30 < top < 60 and -30 < left < 60:
                fill(output, top, left, height, width, color)
                top = top + height if down > 0 else top - width
                left = left + width if right > 0 else left - height
                height, width, color = width, height, GREEN + PINK - color
    return output
