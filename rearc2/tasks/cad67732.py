"""The pattern along a whole diagonal goes on with the same period in a grid twice as high and wide."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(5, 15)
    period = rng.randint(2, min(4, side // 2))
    palette = colors(rng, rng.randint(2, 4))
    # The cells of a place on the diagonal, beside it and below it, repeat with the period.
    middle = [rng.choice(palette) for _ in range(period)]
    beside = [rng.choice([0, *palette, *palette]) for _ in range(period)]
    kind = rng.choice(["line", "band", "blocks"])
    if kind == "line":
        beside = [0] * period
    if kind == "blocks":
        beside[-1] = 0  # blocks on the diagonal that touch at corners alone
    if len(set(middle + beside) - {0}) < 2:
        raise Retry
    for shorter in range(1, period):
        if all(
            (middle[k], beside[k]) == (middle[k % shorter], beside[k % shorter]) for k in range(period)
        ) and not (period % shorter):
            raise Retry
    before, after = canvas(side, side), canvas(2 * side, 2 * side)
    for grid in (before, after):
        for k in range(len(grid)):
            grid[k, k] = middle[k % period]
            if k + 1 < len(grid):
                grid[k, k + 1] = grid[k + 1, k] = beside[k % period]
    if rng.random() < 0.5:
        before, after = before[:, ::-1], after[:, ::-1]
    return before.copy(), after.copy()


def verify(grid: Grid) -> Grid:
    falling = bool(grid[0, 0] or grid[-1, -1])
    upright = grid if falling else grid[:, ::-1]
    side = len(upright)
    period = next(
        shift for shift in range(1, side) if (upright[shift:, shift:] == upright[:-shift, :-shift]).all()
    )
    output = canvas(2 * side, 2 * side)
    output[:side, :side] = upright
    for k in range(side, 2 * side):
        # Every further corner hook is the one a period before it, moved on.
        output[k, period : k + 1] = output[k - period, : k + 1 - period]
        output[period : k + 1, k] = output[: k + 1 - period, k - period]
    return output if falling else np.fliplr(output)
