"""Between lines lies a plaid of small figures. Every figure of the same shape as a sky blue one (not turned nor
mirrored) becomes sky blue too."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, Thing, objects, random_cells, splits

BLUE, RED, MARK = 1, 2, 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    line_color, ink = rng.sample((BLUE, RED), 2)
    side = rng.randint(15, 29)
    row_kinds, column_kinds = _stripes(rng, side), _stripes(rng, side)
    # Cells depend on the kinds of their row and column; kind 0 is a line.
    plaid = random_cells(rng, (4, 4), (0, line_color, ink, ink))
    if rng.random() < 0.5:
        plaid[:] = 0
        plaid[2] = plaid[:, 2] = ink
    plaid[0] = plaid[:, 0] = line_color
    after = plaid[np.ix_(row_kinds, column_kinds)]
    shapes: dict[bytes, list[Thing]] = {}
    for figure in objects(np.where(after == ink, ink, 0)):
        if figure.size > 1:
            shapes.setdefault(_key(figure), []).append(figure)
    if len(shapes) < 4 or sum(map(len, shapes.values())) < 15:
        raise Retry  # poorer than the official plaids
    repeated = [figures for figures in shapes.values() if 2 <= len(figures) <= 16]
    if not repeated or not (after == 0).any():
        raise Retry
    before = after.copy()
    # Marked figures turned by half are marked too, or there are none: officially they would not show.
    chosen = rng.sample(repeated, min(len(repeated), rng.randint(1, 3)))
    marked = {_key(figures[0]) for figures in chosen}
    if any(_turned(figures[0]) in shapes.keys() - marked for figures in chosen):
        raise Retry
    for figures in chosen:
        for figure in figures:
            after[figure.slices][figure.mask] = MARK
        shown = rng.choice(figures)
        before[shown.slices][shown.mask] = MARK
    if not (after == ink).any():
        raise Retry
    return before, after


def _stripes(rng: Random, side: int) -> list[int]:
    """Kinds of rows or columns: bands of one to three kinds, from a small stock, with lines (0) between them."""
    stock = [[rng.randint(1, 3) for _ in range(rng.randint(1, 3))] for _ in range(rng.randint(4, 6))]
    stripes: list[int] = []
    while len(stripes) < side:
        stripes += [*rng.choice(stock), 0]
    return stripes[:side]


def _key(figure: Thing) -> bytes:
    return bytes(figure.mask.shape) + figure.mask.tobytes()


def _turned(figure: Thing) -> bytes:
    return bytes(figure.mask.shape) + figure.mask[::-1, ::-1].tobytes()


def verify(grid: Grid) -> Grid:
    return _marked(grid, half_turns=False)


def rival_half_turn(grid: Grid) -> Grid:
    """Figures turned by half are of the same shape."""
    return _marked(grid, half_turns=True)


def _marked(grid: Grid, half_turns: bool) -> Grid:
    output = grid.copy()
    line_color = grid[splits(grid)[0][0], 0]
    (ink,) = {BLUE, RED} - {int(line_color)}
    figures = objects(grid)
    marked = [figure.mask for figure in figures if figure.color == MARK]
    marked += [mask[::-1, ::-1] for mask in marked] if half_turns else []
    for figure in figures:
        if figure.color == ink and any(np.array_equal(figure.mask, mask) for mask in marked):
            output[figure.slices][figure.mask] = MARK
    return output
