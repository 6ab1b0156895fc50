"""A framed panel at one side carries a row of code cells, and loose cells lie opposite. A loose cell that has the
colour of its code cell moves to the panel, any other to the far border."""

from random import Random

import numpy as np

from rearc2.helpers import SIDES, Grid, background, canvas, colors, frame, most_common, to_top, undo_to_top


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(8, 18)
    frame_color, ground, inside, *palette = colors(rng, rng.randint(6, 8), without=())
    depth = rng.randint(2, side // 2)
    before = canvas(side, side, ground)
    before[:depth] = inside if rng.random() < 0.5 else ground
    # The frame has three sides, the border is the fourth.
    frame(before, -1, 0, depth + 2, side, frame_color)
    after = before.copy()
    code_row, loose_row = rng.randrange(depth), rng.randint(depth + 1, side - 2)
    places = rng.sample(
        range(1, side - 1), rng.randint(5, side - 3) if side < 12 else rng.randint(6, side // 2 + 2)
    )
    for number, column in enumerate(places):
        # Some of both kinds, at least one of each.
        code, other = rng.sample(palette, 2)
        match = number == 0 or (number > 1 and rng.random() < 0.35)
        loose = code if match else other
        before[code_row, column] = after[code_row, column] = code
        before[loose_row, column] = loose
        after[depth + 1 if match else -1, column] = loose
    turn = rng.choice(SIDES)
    return undo_to_top(before, turn), undo_to_top(after, turn)


def verify(grid: Grid) -> Grid:
    for side in SIDES:
        turned = to_top(grid, side)
        for depth in range(1, len(turned) - 1):
            edges = np.concatenate([turned[depth], turned[:depth, 0], turned[:depth, -1]])
            if (edges == edges[0]).all() and (turned[:depth, 1:-1] != edges[0]).all():
                return undo_to_top(_sorted_out(turned, depth), side)
    raise ValueError("there is no panel")


def _sorted_out(grid: Grid, depth: int) -> Grid:
    """The answer for a panel at the top whose frame ends with row `depth`."""
    output = grid.copy()
    inside, ground = most_common(grid[:depth, 1:-1]), background(grid[depth + 1 :])
    for column in range(1, grid.shape[1] - 1):
        code, loose = grid[:depth, column], grid[depth + 1 :, column]
        code, loose = code[code != inside], loose[loose != ground]
        if len(loose):
            output[depth + 1 :, column] = ground
            output[depth + 1 if code[0] == loose[0] else -1, column] = loose[0]
    return output
