"""The magenta hook goes up from below the yellow line to the top edge; the other figure goes up too and hangs with
the lower right corner of its box on the hook's short tip."""

from random import Random

from rearc2.helpers import Grid, canvas, colors, crop, objects, paint, place, random_shape

GROUND, LINE, HOOK = 7, 4, 6
SIDE, LINE_ROW = 11, 5
# From the top of the long arm down; the short tip is two columns to the left of the long arm.
HOOK_CELLS = ((0, 2), (1, 2), (2, 0), (2, 2), (3, 1))


def generate(rng: Random) -> tuple[Grid, Grid]:
    (color,) = colors(rng, 1, without=(0, GROUND, LINE, HOOK))
    height, width = rng.randint(1, 3), rng.randint(1, 4)
    figure = random_shape(rng, height, width, rng.uniform(0.4, 0.9), diagonal=True)
    tip = rng.randint(width - 1, SIDE - 3)
    before, after = canvas(SIDE, SIDE, GROUND), canvas(SIDE, SIDE, GROUND)
    before[LINE_ROW] = after[LINE_ROW] = LINE
    for row, column in HOOK_CELLS:
        before[LINE_ROW + 1 + row, tip + column] = after[row, tip + column] = HOOK
    taken = before == HOOK
    taken[:LINE_ROW] = True
    ((top, left),) = place(rng, before.shape, [figure.shape], taken=taken)
    paint(before, figure, top, left, color)
    paint(after, figure, 3 - height, tip + 1 - width, color)
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    output[LINE_ROW + 1 :] = GROUND
    below = grid[LINE_ROW + 1 :]
    (hook,) = objects(below * (below == HOOK))
    paint(output, hook.patch, 0, hook.left)
    others = (below != GROUND) & (below != HOOK)
    figure = crop(below * others)
    tip_row = int(hook.mask[:, 0].argmax())
    paint(output, figure, tip_row + 1 - figure.shape[0], hook.left + 1 - figure.shape[1])
    return output
