"""The corner piece's two arms double in length, in the same corner of a 16x16 grid, and a diagonal joins their
ends."""

from random import Random

from rearc2.helpers import SIDES, Grid, canvas, colors, crop, line, undo_to_top

GROUND = 7
CAP = 177  # four corners, five lengths, nine colours, less the official inputs


def generate(rng: Random) -> tuple[Grid, Grid]:
    (color,) = colors(rng, 1, without=(GROUND,))
    arm = rng.randint(2, 6)
    before, after = canvas(6, 6, GROUND), canvas(16, 16, GROUND)
    before[0, :arm] = before[:arm, 0] = color
    after[0, : 2 * arm] = after[: 2 * arm, 0] = color
    line(after, (0, 2 * arm - 1), (2 * arm - 1, 0), color)
    side = rng.choice(SIDES)
    return undo_to_top(before, side), undo_to_top(after, side)


def verify(grid: Grid) -> Grid:
    inked = grid != GROUND
    long = 2 * len(crop(inked))
    top = 0 if inked[0].sum() > 1 else 16 - long
    left = 0 if inked[:, 0].sum() > 1 else 16 - long
    output = canvas(16, 16, GROUND)
    color = int(grid[inked][0])
    part = output[top : top + long, left : left + long]
    part[0 if top == 0 else -1] = color
    part[:, 0 if left == 0 else -1] = color
    falling = (top == 0) != (left == 0)
    for step in range(long):
        part[step, step if falling else long - 1 - step] = color
    return output
