"""On the chequerboard all blue cells move up against the side on which the sky blue cell is. In the line of the sky
blue cell as many maroon cells follow behind them as there are blue ones."""

from random import Random

import numpy as np

from rearc2.helpers import SIDES, Grid, canvas, mostly, to_top, undo_to_top

BLUE, SKY, MAROON = 1, 8, 9


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = mostly(rng, 3, 7, 18), mostly(rng, 3, 7, 18)
    column = rng.randint(1, width - 2)
    rows, columns = np.indices((height, width))
    # Drawn with the sky blue cell on top, in place of a blue one.
    before = ((rows + columns) % 2 == column % 2).astype(int)
    after = canvas(height, width)
    for c in range(width):
        count = int(before[:, c].sum())
        if c == column:
            after[0, c] = SKY
            after[1:count, c] = BLUE
            after[count : 2 * count - 1, c] = MAROON
        else:
            after[:count, c] = BLUE
    before[0, column] = SKY
    side = rng.choice(SIDES)
    return undo_to_top(before, side), undo_to_top(after, side)


def verify(grid: Grid) -> Grid:
    (side,) = [side for side in SIDES if (to_top(grid, side)[0] == SKY).any()]
    turned = to_top(grid, side)
    column = int((turned[0] == SKY).argmax())
    output = -np.sort(-turned, axis=0)  # sky blue before blue before black
    line = output[:, column]
    blue = int((line == BLUE).sum())
    line[1 + blue : 1 + 2 * blue] = MAROON
    return undo_to_top(output, side)
