"""In each panel with a yellow line the blocks change places across the line. In each panel without one the blue blocks
take the colour of the block that is not blue."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, canvas, colors, fill, join

BLUE, YELLOW = 1, 4
PANEL = 9


def generate(rng: Random) -> tuple[Grid, Grid]:
    down, across = rng.randint(1, 3), rng.randint(1, 3)
    (separator,) = colors(rng, 1, without=(0, BLUE, YELLOW))
    pairs = [[_panel(rng) for _ in range(across)] for _ in range(down)]
    before, after = (join([[pair[side] for pair in row] for row in pairs], separator) for side in (0, 1))
    return before, after


def _panel(rng: Random) -> tuple[Grid, Grid]:
    before = canvas(PANEL, PANEL)
    if rng.random() < 0.5:
        (odd,) = colors(rng, 1, without=(0, BLUE))
        blocks = [odd, BLUE, BLUE, BLUE]
        rng.shuffle(blocks)
        after = _blocks(before, [odd] * 4)
        return _blocks(before, blocks), after
    blocks = [colors(rng, 1, without=(0, YELLOW))[0] for _ in range(4)]
    a, b, c, d = blocks
    if rng.random() < 0.5:
        before[:, 4] = YELLOW
        swapped = [b, a, d, c]
    else:
        before[4] = YELLOW
        swapped = [c, d, a, b]
    return _blocks(before, blocks), _blocks(before, swapped)


def _blocks(panel: Grid, palette: list[int]) -> Grid:
    """The panel with its four blocks in reading order."""
    panel = panel.copy()
    for color, (top, left) in zip(palette, ((1, 1), (1, 5), (5, 1), (5, 5)), strict=True):
        fill(panel, top, left, 3, 3, color)
    return panel


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for top in range(0, len(grid), PANEL + 1):
        for left in range(0, grid.shape[1], PANEL + 1):
            panel = grid[top : top + PANEL, left : left + PANEL]
            if (panel[:, 4] == YELLOW).all():
                solved = panel[:, ::-1]
            elif (panel[4] == YELLOW).all():
                solved = panel[::-1]
            else:
                odd = panel[(panel != 0) & (panel != BLUE)]
                solved = np.where(panel == BLUE, odd[0], panel)
            output[top : top + PANEL, left : left + PANEL] = solved
    return output
