"""Red lines part the grid into regions. They are filled by turns: grey at the bottom left, then green, and so on."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, grow, label, retrying

GROUND, LINE, FIRST, SECOND = 7, 2, 5, 3


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(7, 12)
    lines = np.zeros((side, side), bool)
    crossed = np.zeros((side, side), np.int64)  # how many lines lie between a cell and the bottom left corner
    for _ in range(rng.randint(1, 2 if side < 8 else 3)):
        stairs = retrying(lambda: _stairs(rng, lines))
        regions, _ = label(~stairs, diagonal=False)
        crossed += regions != regions[-1, 0]
        lines[stairs] = True
    if label(~lines, diagonal=False)[1] != crossed[~lines].max() + 1:
        raise Retry
    after = np.where(lines, LINE, np.where(crossed % 2 == 0, FIRST, SECOND))
    return np.where(lines, LINE, GROUND), after


def _stairs(rng: Random, lines: Mask) -> Mask:
    """A way from the left or top border right and down to another border, which parts the grid and keeps apart."""
    side = len(lines)
    stairs = np.zeros((side, side), bool)
    row, column = rng.choice([(rng.randrange(side - 1), 0), (0, rng.randrange(side - 1))])
    right, turning = column == 0, rng.uniform(0.1, 0.5)
    while row < side and column < side:
        stairs[row, column] = True
        row, column = (row, column + 1) if right else (row + 1, column)
        right ^= rng.random() < turning
    if (grow(stairs) & lines).any() or stairs[-1, 0] or label(~stairs, diagonal=False)[1] != 2:
        raise Retry
    return stairs


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    regions, _ = label(grid != LINE, diagonal=False)
    lines, count = label(grid == LINE, diagonal=False)
    output[regions == regions[-1, 0]] = FIRST
    waiting = list(range(1, count + 1))
    while waiting:
        for number in list(waiting):
            beside = grow(lines == number, diagonal=False) & (lines != number)
            done = set(output[beside].tolist()) - {GROUND}
            if done:
                # The region on the line's other side gets the other colour.
                (color,) = done
                others = np.unique(regions[beside & (output == GROUND)])
                output[np.isin(regions, others)] = FIRST + SECOND - color
                waiting.remove(number)
    return output
